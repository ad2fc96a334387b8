import type { DataSource } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { loadConfig } from '../../../src/ground/config/config.js';
import { withDataSource } from '../../../src/ground/database/data-source.js';
import { DATABASE_SCHEMA } from '../gateway/tested-gateway.js';

const TEXTS = [
  '',
  '😀🐕‍🦺𠮷 e\u0301',
  `"quoted" 'it''s' \\ % _ ?`,
  ' \t\n\r\u0001\u001b[2J\u2028\u202E end  ',
  '\uFEFF\uFFFD',
];
const INTEGERS = [0n, -1n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)];
const SMALL = [0n, 1n, -1n, 2n ** 31n - 1n, -(2n ** 31n)];
const LONG_TEXT = '𝒳'.repeat(16_000);

/** Puts five rows with unusual values into every table: the longest texts, the largest integers, nulls. */
export async function fillEveryTable(databaseUrl: string): Promise<void> {
  await onDatabase(databaseUrl, async (source) => {
    for (const { tableName, columns } of source.entityMetadatas) {
      await source.query(`DELETE FROM ${tableName}`);
      const names = columns.map(({ databaseName }) => source.driver.escape(databaseName)).join(', ');
      const places = columns.map(() => '?').join(', ');
      for (const at of TEXTS.keys()) {
        const values = columns.map((column) => valueIn(column, at));
        await source.query(`INSERT INTO ${tableName} (${names}) VALUES (${places})`, values);
      }
    }
  });
}

/** The rows of every table as text, sorted, read without the code of backups; without the time of the copy itself. */
export function readEveryTable(databaseUrl: string): Promise<Record<string, string[]>> {
  return onDatabase(databaseUrl, async (source) => {
    const tables: Record<string, string[]> = {};
    for (const { tableName, columns } of source.entityMetadatas) {
      const rows: Record<string, unknown>[] = await source.query(`SELECT * FROM ${tableName}`);
      const text = (value: unknown) => (value === null ? null : String(value));
      tables[tableName] = rows
        .map((row) => JSON.stringify(columns.map(({ databaseName }) => text(row[databaseName]))))
        .filter((row) => !row.startsWith('["restored",'))
        .sort();
    }
    return tables;
  });
}

export function onDatabase<T>(databaseUrl: string, work: (source: DataSource) => Promise<T>): Promise<T> {
  const { database } = loadConfig({ DATABASE_URL: databaseUrl });
  const settings = { poolSize: 1, queryTimeoutMs: 60_000 };
  return withDataSource(database, DATABASE_SCHEMA, settings, work);
}

function valueIn({ type, length, isNullable, isPrimary }: ColumnMetadata, at: number): unknown {
  if (isNullable && at === 0) return null;
  if (type === 'bigint') return INTEGERS[at];
  if (type === 'int') return SMALL[at];
  const text = TEXTS[at] ?? '';
  if (type === 'text') return at === 0 ? LONG_TEXT : text;
  const most = Number(length);
  // A key on MySQL has at most 3,072 bytes, and ignores spaces at its end.
  if (isPrimary || most < 32) return `${at}${'é'.repeat(most - 1)}`;
  return at === 0 ? '𝒳'.repeat(most) : `${text}${at}`;
}
