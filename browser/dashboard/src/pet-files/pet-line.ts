import { csvLine } from '../files/csv-line.js';
import type { ExportPetsQuery } from '../graphql/generated.js';

/** The first line of the file, as `petstore pets export` writes it. */
export const PETS_HEADER = 'id,name,categoryId,status\n';

type ExportedPet = ExportPetsQuery['pets']['nodes'][number];

export function petLine({ id, name, categoryId, status }: ExportedPet): string {
  return `${csvLine([id, name, categoryId, status ?? ''])}\n`;
}
