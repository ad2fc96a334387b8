import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { BackupRow } from './backup-format.js';

const PAGE_ROWS = 1_000;
/** A `text` column has up to 64 KB. */
const PAGE_ROWS_WITH_LONG_TEXT = 50;

type Query = (sql: string, values: unknown[]) => Promise<Record<string, string | null>[]>;

/** Reads a table in pages, each behind the primary key of the last row: page 1,000 costs as much as page 1. */
export class RowPages {
  private readonly pageRows: number;

  constructor(
    private readonly metadata: EntityMetadata,
    private readonly isMysql: boolean,
  ) {
    const isLong = metadata.columns.some(({ type }) => type === 'text');
    this.pageRows = isLong ? PAGE_ROWS_WITH_LONG_TEXT : PAGE_ROWS;
  }

  async *read(query: Query): AsyncGenerator<BackupRow[]> {
    const { columns, primaryColumns } = this.metadata;
    const keys = primaryColumns.map((column) => columns.indexOf(column));
    for (let last: BackupRow | undefined; ; ) {
      const position = last === undefined ? null : keys.map((key) => last?.[key] ?? null);
      const found = await query(...this.page(position));
      const rows = found.map((row) => columns.map((_, at) => row[`c${at}`] ?? null));
      if (rows.length > 0) yield rows;
      if (rows.length < this.pageRows) return;
      last = rows.at(-1);
    }
  }

  private page(position: BackupRow | null): [sql: string, values: unknown[]] {
    const { columns, primaryColumns, tableName, connection } = this.metadata;
    const quoted = ({ databaseName }: ColumnMetadata) => connection.driver.escape(databaseName);
    const selected = columns.map((column, at) =>
      // Digits as text are exact with every driver.
      isInteger(column) ? `CAST(${quoted(column)} AS CHAR) AS c${at}` : `${quoted(column)} AS c${at}`,
    );
    // Without the index MySQL may begin at the first row of the table for every page.
    const from = this.isMysql ? `${tableName} FORCE INDEX (PRIMARY)` : tableName;
    const keys = primaryColumns.map(quoted);
    const values = position?.map((value, at) => keyValue(primaryColumns[at] as ColumnMetadata, value)) ?? [];
    const where = position === null ? { sql: '', values } : this.behind(keys, values);
    return [
      `SELECT ${selected.join(', ')} FROM ${from} ${where.sql} ORDER BY ${keys.join(', ')} LIMIT ${this.pageRows}`,
      where.values,
    ];
  }

  private behind(keys: readonly string[], values: readonly unknown[]): { sql: string; values: unknown[] } {
    if (!this.isMysql) {
      const places = keys.map(() => '?').join(', ');
      return { sql: `WHERE (${keys.join(', ')}) > (${places})`, values: [...values] };
    }
    // MySQL reads no range for a comparison of rows.
    const [first, ...rest] = keys.toReversed();
    const after = rest.reduce((sql, key) => `(${key} > ? OR (${key} = ? AND ${sql}))`, `${first} > ?`);
    const doubled = values.flatMap((value, at) => (at === values.length - 1 ? [value] : [value, value]));
    return { sql: `WHERE ${after}`, values: doubled };
  }
}

/** Throws for a type whose values are not known to be exact as text. */
function isInteger({ type, databaseName }: ColumnMetadata): boolean {
  if (type === 'bigint' || type === 'int') return true;
  if (type === 'varchar' || type === 'text') return false;
  throw new Error(`a backup has no form for the column ${databaseName} of type ${String(type)}`);
}

function keyValue(column: ColumnMetadata, value: string | null): string | bigint | null {
  return value !== null && isInteger(column) ? BigInt(value) : value;
}
