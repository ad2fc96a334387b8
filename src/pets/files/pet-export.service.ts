import type { Database } from '../../ground/database/database.js';
import { patiently } from '../../ground/database/database-errors.js';
import type { PetStore } from '../pet.store.js';
import { type ListedPet, oldestFirst, type PetListRequest, type PetPosition } from '../pet-list.js';
import { csvLine, type PetFormat } from './rows.js';

const PAGE_PETS = 1_000;
const COUNT = 'SELECT COUNT(*) AS pets FROM pets WHERE project_id = ?';

interface ExportOptions {
  /** Ends the export after the current page. */
  signal: AbortSignal;
  /** Called, perhaps often, while the export waits for an unavailable database. */
  onWait(): void;
}

/** Reads all pets of a project for an export. Memory is bounded by one page. */
export class PetExportService {
  constructor(
    private readonly db: Database,
    private readonly store: PetStore,
  ) {}

  /** Returns the number of pets, or null when the database takes too long to count. */
  async count(projectId: bigint): Promise<number | null> {
    const rows = await this.db.execute<{ pets: unknown }>(COUNT, [projectId]).catch(() => []);
    return rows[0] ? Number(rows[0].pets) : null;
  }

  /**
   * Reads the pets in the order of their ids, one statement for each page. The newest id at the start is the last one, so
   * the export ends although pets are added meanwhile.
   */
  async *pages(projectId: bigint, options: ExportOptions): AsyncGenerator<ListedPet[]> {
    const read = (part: Partial<PetListRequest>) => {
      const list = { ...oldestFirst(null), pageSize: PAGE_PETS, after: null, ...part };
      return patiently(() => this.store.page(projectId, list), options);
    };
    const [newest] = (await read({ orderBy: 'NEWEST', pageSize: 1 })).pets;
    const lastId = BigInt(newest?.id ?? -1);
    let after: PetPosition | null = null;
    while (!options.signal.aborted) {
      const page = await read({ after });
      const pets = page.pets.filter(({ id }) => BigInt(id) <= lastId);
      const last = pets.at(-1);
      if (last === undefined) return;
      yield pets;
      if (!page.hasNextPage) return;
      after = { id: BigInt(last.id), name: null };
    }
  }
}

type ExportedPet = Omit<ListedPet, 'createdAtMs'>;

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
