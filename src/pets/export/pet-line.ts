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

/** The start of a cell that a spreadsheet runs; with the separator of another country a name has several cells. */
const FORMULA = /(^|[,;\t\r\n])(?=[^\S\t\r\n]*[=+\-@＝＋－＠])/g;

/** The pet with an apostrophe before each formula of its name. An import does not remove it. */
export function withoutFormulas(pet: ExportedPet): ExportedPet {
  return { ...pet, name: pet.name.replace(FORMULA, "$1'") };
}

/** A pet as a line of a file. A line of NDJSON is the object that `GET /v1/pets` returns: an unset status is left out. */
export const PET_LINE: Record<PetFormat, (pet: ExportedPet) => string> = {
  csv: ({ id, name, categoryId, status }) => `${csvLine([id, name, categoryId, status ?? ''])}\n`,
  ndjson: ({ id, name, categoryId, status }) => {
    const state = status === null ? '' : `,"status":"${status}"`;
    return `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId}${state}}\n`;
  },
};
