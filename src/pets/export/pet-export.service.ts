import type { Database } from '../../database/database.js';
import { patiently } from '../../database/patiently.js';
import type { ExportedPet } from './pet-line.js';

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
