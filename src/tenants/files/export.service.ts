import type { Database } from '../../ground/database/database.js';
import { patiently } from '../../ground/database/database-errors.js';
import type { ListedRecord, NounFiles } from './noun-files.js';

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
    const { tableName } = this.db.repository(this.noun.entity).metadata;
    const read = (select: string, ...values: readonly unknown[]) =>
      patiently(() => this.db.execute<ListedRecord>(select, [projectId, ...values]), options);
    const [newest] = await read(`SELECT CAST(MAX(id) AS CHAR) AS id FROM ${tableName} WHERE project_id = ?`);
    let records: ListedRecord[] = [];
    for (let afterId = '-1'; !options.signal.aborted; afterId = records.at(-1)?.id as string) {
      records = await read(this.pageSelect, afterId, newest?.id, PAGE_RECORDS);
      if (records.length > 0) yield records.map((record) => this.presented(record));
      if (records.length < PAGE_RECORDS) return;
    }
  }

  private presented(record: ListedRecord): ListedRecord {
    const { texts } = this.noun;
    if (!texts) return record;
    const presented = Object.entries(texts).map(([name, textOf]) => {
      const column = record[name] ?? null;
      return [name, column === null ? null : textOf(column)];
    });
    return { ...record, ...Object.fromEntries(presented) };
  }

  /** All values as text: mysql2 takes several times as long to read a 64-bit integer exactly. */
  private get pageSelect(): string {
    const { tableName, columns } = this.db.repository(this.noun.entity).metadata;
    const names = new Set(['id', ...this.noun.description.fields.map(({ name }) => name)]);
    const texts = columns
      .filter(({ propertyName }) => names.has(propertyName))
      .map(({ propertyName, databaseName }) => `CAST(\`${databaseName}\` AS CHAR) AS \`${propertyName}\``);
    return `SELECT ${texts.join(', ')} FROM ${tableName}
      WHERE project_id = ? AND id > ? AND id <= ? ORDER BY ${tableName}.id LIMIT ?`;
  }
}
