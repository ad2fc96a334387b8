import type { NounFiles } from '../tenants/files/noun-files.js';
import { PET } from './pet.description.js';
import { Pet } from './pet.entity.js';
import { PET_RULES } from './pet.rules.js';
import type { PetStore } from './pet.store.js';
import { oldestFirst } from './pet-list.js';

/** The files of pets, as the import and the export see them. */
export function petFiles(store: PetStore): NounFiles {
  return {
    description: PET,
    entity: Pet,
    parse: (input) => PET_RULES.parse(input),
    async page(projectId, { afterId, ...wanted }) {
      const after = afterId === null ? null : { id: afterId, name: null };
      const { pets, hasNextPage } = await store.page(projectId, { ...oldestFirst(null), ...wanted, after });
      return { records: pets.map((pet) => ({ ...pet })), hasNextPage };
    },
  };
}
