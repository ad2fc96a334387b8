import { queryParameters, READ_HEADERS, type RestDocument } from '../../doors/rest/rest-document.js';
import { CHANGES_CURSOR, IGNORED_PARAMETERS } from '../../request/http/headers.js';
import { GET_PET_DEPRECATION, newPetSchema, petStatusSchema } from '../pet.rules.js';
import {
  changesQuerySchema,
  listQuerySchema,
  petChangesSchema,
  petSchema,
  petsSchema,
} from './pets.schemas.js';

const { sunsetDate } = GET_PET_DEPRECATION;
const SUNSET_HEADERS = ['Deprecation', 'Sunset', 'Link'];
const CHANGE_HEADERS = ['Link', IGNORED_PARAMETERS, ...READ_HEADERS];
const LIST_HEADERS = ['Link', CHANGES_CURSOR, IGNORED_PARAMETERS, ...READ_HEADERS];
const PET_HEADERS = [...SUNSET_HEADERS, IGNORED_PARAMETERS, ...READ_HEADERS];

/** SPEC's operations as the OpenAPI document shows them. */
export const PETS_DOCUMENT: RestDocument = {
  summary: 'Browse and manage pets available for adoption.',
  tag: { name: 'animals', description: 'Pets of the project that the API key belongs to.' },
  paths: {
    '/pets': {
      get: {
        operationId: 'listPets',
        summary: 'List all animals',
        description: 'A page of pets, oldest first. The `Link` header has the URL of the next page.',
        scope: 'pets:read',
        parameters: queryParameters(listQuerySchema),
        answers: {
          200: { description: 'A page of pets.', headers: LIST_HEADERS, schema: 'Pets' },
          304: { description: 'Not modified: the client has this page.', headers: LIST_HEADERS },
        },
      },
      post: {
        operationId: 'createPet',
        summary: 'Add an animal',
        description:
          'With an `Idempotency-Key` the request can be repeated when its answer got lost: only the first one creates a pet.',
        scope: 'pets:write',
        parameters: [],
        creates: 'NewPet',
        answers: {
          201: {
            description: 'The created pet with its assigned `id`.',
            headers: ['Location', 'Idempotent-Replayed', IGNORED_PARAMETERS],
            schema: 'Pet',
          },
        },
      },
    },
    '/pets/changes': {
      get: {
        operationId: 'listPetChanges',
        summary: 'List changes of animals',
        description: `Changes of pets in the order of their commits, each once, from the oldest that is kept. The \`Link\` header always has the URL of the next changes: request it again later. An operator switches the change log on. To follow a list, begin with its \`${CHANGES_CURSOR}\`; after \`gone\` list again.`,
        isBeta: true,
        scope: 'pets:read',
        parameters: queryParameters(changesQuerySchema),
        answers: {
          200: {
            description: 'The next changes, perhaps none.',
            headers: CHANGE_HEADERS,
            schema: 'PetChanges',
          },
          304: { description: 'Not modified: the client has these changes.', headers: CHANGE_HEADERS },
        },
        errors: ['conflict', 'gone'],
      },
    },
    '/pets/{petId}': {
      get: {
        operationId: 'getPet',
        summary: 'Get an animal',
        description: `Deprecated, to be removed on ${sunsetDate}: use \`GET /pets\` with a \`status\` filter. Over GraphQL, \`pets(ids: […])\` reads pets by identifier.`,
        sunsetDate,
        scope: 'pets:read',
        parameters: [
          {
            name: 'petId',
            in: 'path',
            required: true,
            description: 'The identifier of the pet.',
            schema: { type: 'integer', format: 'int64', examples: [4711] },
          },
        ],
        answers: {
          200: { description: 'The pet.', headers: PET_HEADERS, schema: 'Pet' },
          304: { description: 'Not modified: the client has this pet.', headers: PET_HEADERS },
        },
        errors: ['not_found', 'gone'],
        errorHeaders: SUNSET_HEADERS,
      },
    },
  },
  schemas: {
    NewPet: { description: 'A pet to create.', ...newPetSchema },
    Pet: petSchema,
    Pets: { ...petsSchema, items: { $ref: '#/components/schemas/Pet' } },
    PetChange: {
      ...petChangesSchema.items,
      properties: { ...petChangesSchema.items.properties, pet: { $ref: '#/components/schemas/Pet' } },
    },
    PetChanges: { ...petChangesSchema, items: { $ref: '#/components/schemas/PetChange' } },
  },
  examples: {
    NewPet: {
      pet: {
        summary: 'With every field',
        value: { name: 'Rex', categoryId: 3, status: 'available' },
      },
      smallest: { summary: 'With the required fields only', value: { name: 'Luna', categoryId: 7 } },
    },
    Pet: {
      pet: { summary: 'A pet', value: { id: 4711, name: 'Rex', categoryId: 3, status: 'available' } },
    },
    Pets: {
      page: {
        summary: 'A page of two pets; the second has no status',
        value: [
          { id: 4711, name: 'Rex', categoryId: 3, status: 'available' },
          { id: 4712, name: 'Luna', categoryId: 7 },
        ],
      },
      empty: { summary: 'No pet matches', value: [] },
    },
    PetChanges: {
      page: {
        summary: 'A pet that was adopted',
        value: [
          {
            cursor: 'Yzo0Mi4xNzY0ODkyODAwMDAw',
            kind: 'updated',
            at: '2025-12-05T00:00:00.000Z',
            pet: { id: 4711, name: 'Rex', categoryId: 3, status: 'sold' },
          },
        ],
      },
      empty: { summary: 'Nothing new', value: [] },
    },
  },
  refusals: {
    listPets: {
      invalid_request: [
        { field: 'limit', message: listQuerySchema.properties.limit.rule },
        { field: 'status', message: petStatusSchema.rule },
      ],
    },
    createPet: {
      invalid_request: [
        { field: 'name', message: newPetSchema.properties.name.rule },
        { field: 'categoryId', message: newPetSchema.properties.categoryId.rule },
      ],
      forbidden: 'This API key lacks the scope pets:write. Use a key that has it.',
    },
    listPetChanges: {
      invalid_request: [
        { field: 'limit', message: changesQuerySchema.properties.limit.rule },
        { field: 'cursor', message: changesQuerySchema.properties.cursor.rule },
      ],
      conflict:
        'The change log of this project is off. An operator can switch it on: petstore projects set <slug> --changes on.',
      gone: 'The change log does not reach back to this cursor. List again, then follow from the changesCursor of that list.',
    },
    getPet: {
      gone: `Reading one pet was removed on ${sunsetDate}. Use GET /v1/pets with a status filter, or over GraphQL pets(ids: […]), which reads pets by their identifiers.`,
    },
  },
};
