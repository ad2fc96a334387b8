import type { Database } from '../../ground/database/database.js';
import { patiently } from '../../ground/database/database-errors.js';
import type { PetStatus } from '../pet.entity.js';
import { csvLine, type PetFormat } from './rows.js';

const PAGE_PETS = 1_000;
// Digits as text: mysql2 takes several times as long to read a 64-bit integer exactly.
const PAGE = `SELECT CAST(id AS CHAR) AS id, name, CAST(category_id AS CHAR) AS categoryId, status FROM pets
  WHERE project_id = ? AND id > ? AND id <= ? ORDER BY pets.id LIMIT ${PAGE_PETS}`;
const LAST = 'SELECT CAST(MAX(id) AS CHAR) AS id FROM pets WHERE project_id = ?';
const COUNT = 'SELECT CAST(COUNT(*) AS CHAR) AS pets FROM pets WHERE project_id = ?';
/** Ids are never negative. */
const BEFORE_ALL = '-1';

interface ExportOptions {
  /** Ends the export after the current page. */
  signal: AbortSignal;
  /** Called, perhaps often, while the export waits for an unavailable database. */
  onWait(): void;
}

/** Reads all pets of a project for an export. Memory is bounded by one page. */
export class PetExportService {
  constructor(private readonly db: Database) {}

  /** Returns the number of pets, or null when the database takes too long to count. */
  async count(projectId: bigint): Promise<number | null> {
    const rows = await this.db.execute<{ pets: string }>(COUNT, [projectId]).catch(() => []);
    return rows[0] ? Number(rows[0].pets) : null;
  }

  /**
   * Reads the pets in the order of their ids, one statement for each page. The newest id at the start is the last one, so
   * the export ends although pets are added meanwhile.
   */
  async *pages(projectId: bigint, { signal, onWait }: ExportOptions): AsyncGenerator<ExportedPet[]> {
    const read = <Row>(sql: string, values: unknown[]) =>
      patiently(() => this.db.execute<Row>(sql, [projectId, ...values]), { signal, onWait });
    const [last] = await read<{ id: string | null }>(LAST, []);
    let afterId = BEFORE_ALL;
    while (last?.id && afterId !== last.id && !signal.aborted) {
      const pets = await read<ExportedPet>(PAGE, [afterId, last.id]);
      if (pets.length > 0) yield pets;
      if (pets.length < PAGE_PETS) return;
      afterId = pets.at(-1)?.id as string;
    }
  }
}

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
