import { csvLine } from '../files/csv.js';
import type { PetFormat } from '../files/pet-format.js';
import type { PetStatus } from '../pet.entity.js';

/** A pet to write. Its 64-bit integers are strings of digits. */
export interface ExportedPet {
  id: string;
  name: string;
  categoryId: string;
  status: PetStatus | null;
}

/** The first line of a file; empty = none. */
export const FILE_START: Record<PetFormat, string> = { csv: 'id,name,categoryId,status\n', ndjson: '' };

/** A pet as a line of a file. A line of NDJSON is the object that `GET /v1/pets` returns: an unset status is left out. */
export const PET_LINE: Record<PetFormat, (pet: ExportedPet) => string> = {
  csv: ({ id, name, categoryId, status }) => `${csvLine([id, name, categoryId, status ?? ''])}\n`,
  ndjson: ({ id, name, categoryId, status }) => {
    const state = status === null ? '' : `,"status":"${status}"`;
    return `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId}${state}}\n`;
  },
};
