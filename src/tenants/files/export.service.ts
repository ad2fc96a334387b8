import type { Database } from '../../ground/database/database.js';
import { patiently } from '../../ground/database/database-errors.js';
import type { ListedRecord, NounFiles, RecordPage } from './noun-files.js';

const PAGE_RECORDS = 1_000;

interface ExportOptions {
  /** Ends the export after the current page. */
  signal: AbortSignal;
  /** Called, perhaps often, while the export waits for an unavailable database. */
  onWait(): void;
}

/** Reads all records of a noun in a project for an export. Memory is bounded by one page. */
export class ExportService {
  constructor(
    private readonly db: Database,
    private readonly noun: NounFiles,
  ) {}

  /** Returns the number of records, or null when the database takes too long to count. */
  async count(projectId: bigint): Promise<number | null> {
    const { tableName } = this.db.repository(this.noun.entity).metadata;
    const count = `SELECT COUNT(*) AS total FROM ${tableName} WHERE project_id = ?`;
    const rows = await this.db.execute<{ total: unknown }>(count, [projectId]).catch(() => []);
    return rows[0] ? Number(rows[0].total) : null;
  }

  /**
   * Reads the records in the order of their ids, one statement for each page. The newest id at the start is the last one,
   * so the export ends although records are added meanwhile.
   */
  async *pages(projectId: bigint, options: ExportOptions): AsyncGenerator<ListedRecord[]> {
    const read = (part: Partial<RecordPage>) => {
      const page = { pageSize: PAGE_RECORDS, afterId: null, orderBy: 'OLDEST', ...part } as const;
      return patiently(() => this.noun.page(projectId, page), options);
    };
    const [newest] = (await read({ orderBy: 'NEWEST', pageSize: 1 })).records;
    const lastId = BigInt(newest?.id ?? -1);
    let afterId: bigint | null = null;
    while (!options.signal.aborted) {
      const page = await read({ afterId });
      const records = page.records.filter(({ id }) => BigInt(id) <= lastId);
      const last = records.at(-1);
      if (last === undefined) return;
      yield records;
      if (!page.hasNextPage) return;
      afterId = BigInt(last.id);
    }
  }
}
