import {
  queryParameters,
  type RestDocument,
  readAnswers,
  usualDocument,
} from '../../doors/rest/rest-document.js';
import { got } from '../../ground/kernel/got.js';
import { CHANGES_CURSOR } from '../../request/http/headers.js';
import { PET } from '../pet.description.js';
import { GET_PET_DEPRECATION, newPetSchema } from '../pet.rules.js';
import { changesQuerySchema, listQuerySchema, petChangesSchema, petSchema } from './pets.schemas.js';

const { sunsetDate } = GET_PET_DEPRECATION;
const REX = { name: 'Rex', categoryId: 3, status: 'available' };
const LUNA = { name: 'Luna', categoryId: 7 };

const usual = usualDocument({
  noun: PET,
  listQuery: listQuerySchema,
  newSchema: newPetSchema,
  schema: petSchema,
});
const { list, create, get } = usual.operations;

/** SPEC's operations as the OpenAPI document shows them. */
export const PETS_DOCUMENT: RestDocument = {
  summary: 'Browse and manage pets available for adoption.',
  tag: { ...usual.tag, name: 'animals' },
  paths: {
    '/pets': {
      get: {
        ...list,
        summary: 'List all animals',
        description:
          'A page of pets, oldest first. The `Link` header has the URL of the next page. [Pages](/v1/docs/pagination#changes) have each pet that existed before the first one exactly once; new pets are in `GET /v1/pets/changes`.',
      },
      post: { ...create, summary: 'Add an animal' },
    },
    '/pets/changes': {
      get: {
        operationId: 'listPetChanges',
        summary: 'List changes of animals',
        description: `Changes of pets in the order of their commits, each once, from the oldest that is kept. The \`Link\` header always has the URL of the next changes: request it again later. An operator switches the change log on. To follow a list, begin with its \`${CHANGES_CURSOR}\`; after \`gone\` list again.`,
        isBeta: true,
        scope: 'pets:read',
        parameters: queryParameters(changesQuerySchema),
        answers: readAnswers('PetChanges', 'The next changes, perhaps none.', 'these changes', ['Link']),
        errors: ['conflict', 'gone'],
      },
    },
    '/pets/{petId}': {
      get: {
        ...get,
        summary: 'Get an animal',
        description: `Deprecated, to be removed on ${sunsetDate}: use \`GET /pets\` with a \`status\` filter. Over GraphQL, \`pets(ids: […])\` reads pets by identifier.`,
        sunsetDate,
        errors: ['not_found', 'gone'],
        headers: ['Deprecation', 'Sunset', 'Link'],
      },
    },
  },
  schemas: {
    ...usual.schemas,
    PetChange: {
      ...petChangesSchema.items,
      properties: { ...petChangesSchema.items.properties, pet: { $ref: '#/components/schemas/Pet' } },
    },
    PetChanges: { ...petChangesSchema, items: { $ref: '#/components/schemas/PetChange' } },
  },
  examples: {
    NewPet: {
      pet: { summary: 'With every field', value: REX },
      smallest: { summary: 'With the required fields only', value: LUNA },
    },
    Pet: { pet: { summary: 'A pet', value: { id: 4711, ...REX } } },
    Pets: {
      page: {
        summary: 'A page of two pets; the second has no status',
        value: [
          { id: 4711, ...REX },
          { id: 4712, ...LUNA },
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
            pet: { id: 4711, ...REX, status: 'sold' },
          },
        ],
      },
      empty: { summary: 'Nothing new', value: [] },
    },
  },
  refusals: {
    ...usual.refusals,
    listPetChanges: {
      invalid_request: [
        { field: 'limit', message: got(changesQuerySchema.properties.limit.rule, '') },
        { field: 'cursor', message: got(changesQuerySchema.properties.cursor.rule, '') },
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
