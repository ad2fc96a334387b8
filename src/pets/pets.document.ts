import type { DocumentedOperation, RestDocument } from '../doors/rest/rest-document.js';
import type { NounModel } from '../noun/definition/model.js';
import { getOperation } from '../noun/rest/record.document.js';
import type { OwnNames } from '../request/http/headers.js';
import { GET_PET_DEPRECATION, GONE_MESSAGE } from './get-pet.js';

const { sunsetDate } = GET_PET_DEPRECATION;
const REX = { name: 'Rex', categoryId: 3, status: 'available' };
const LUNA = { name: 'Luna', categoryId: 7 };

/** SPEC's words, its examples, and its deprecated getPet. */
export function document(usual: RestDocument, model: NounModel, names: OwnNames): RestDocument {
  const operation = (path: string, method: string) => usual.paths[path]?.[method] as DocumentedOperation;
  const change = usual.examples.PetChanges?.page?.value as readonly { pet: object }[];
  return {
    ...usual,
    summary: 'Browse and manage pets available for adoption.',
    tag: { ...usual.tag, name: 'animals' },
    paths: {
      '/pets': {
        get: { ...operation('/pets', 'get'), summary: 'List all animals' },
        post: { ...operation('/pets', 'post'), summary: 'Add an animal' },
      },
      '/pets/changes': {
        get: { ...operation('/pets/changes', 'get'), summary: 'List changes of animals' },
      },
      '/pets/{petId}': { get: getPet(getOperation(model, names)) },
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
        ...usual.examples.PetChanges,
        page: {
          summary: 'A pet that was adopted',
          value: change.map((each) => ({ ...each, pet: { ...each.pet, status: 'sold' } })),
        },
      },
    },
    refusals: { ...usual.refusals, getPet: { gone: GONE_MESSAGE } },
  };
}

function getPet(usual: DocumentedOperation): DocumentedOperation {
  return {
    ...usual,
    summary: 'Get an animal',
    description: `Deprecated, to be removed on ${sunsetDate}: use \`GET /pets\` with a \`status\` filter. Over GraphQL, \`pets(ids: […])\` reads pets by identifier.`,
    sunsetDate,
    errors: ['not_found', 'gone'],
    headers: ['Deprecation', 'Sunset', 'Link'],
  };
}
