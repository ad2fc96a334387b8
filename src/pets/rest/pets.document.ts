import { queryParameters, READ_HEADERS, type RestDocument } from '../../doors/rest/rest-document.js';
import { IGNORED_PARAMETERS } from '../../request/http/headers.js';
import { GET_PET_DEPRECATION, newPetSchema, petStatusSchema } from '../pet.rules.js';
import { listQuerySchema, petSchema, petsSchema } from './pets.schemas.js';

const { sunsetDate } = GET_PET_DEPRECATION;
const SUNSET_HEADERS = ['Deprecation', 'Sunset', 'Link'];
const LIST_HEADERS = ['Link', IGNORED_PARAMETERS, ...READ_HEADERS];
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
    getPet: {
      gone: `Reading one pet was removed on ${sunsetDate}. Use GET /v1/pets with a status filter, or over GraphQL pets(ids: […]), which reads pets by their identifiers.`,
    },
  },
};
