import type { EntityManager, EntityMetadata, ObjectLiteral, ValueTransformer } from 'typeorm';
import { unchanged } from './columns.js';

/** Few sizes, so that SQLite reuses its prepared statements. Larger sizes are no faster. */
const STATEMENT_ROWS = [250, 25, 1];

/**
 * Inserts many rows, several times as fast as TypeORM's insert, which builds a new statement each time. `REPLACE` replaces
 * those with the same key.
 */
export async function insertRows<E extends ObjectLiteral>(
  manager: EntityManager,
  entity: new () => E,
  rows: readonly E[],
  { read = storedIn, verb = 'INSERT' }: { read?: typeof storedIn; verb?: 'INSERT' | 'REPLACE' } = {},
): Promise<void> {
  const metadata = manager.dataSource.getMetadata(entity);
  let next = 0;
  for (const size of STATEMENT_ROWS) {
    for (; rows.length - next >= size; next += size) {
      const [insert, values] = insertion(metadata, rows.slice(next, next + size), read);
      await manager.query(insert.replace('INSERT', verb), values);
    }
  }
}

/** The statement that inserts the rows: all of them, or none. */
export function insertion<E extends ObjectLiteral>(
  { columns, tableName }: EntityMetadata,
  rows: readonly E[],
  read = storedIn,
): [sql: string, values: unknown[]] {
  const names = columns.map(({ databaseName }) => quoted(databaseName)).join(', ');
  const row = `(${columns.map(() => '?').join(', ')})`;
  const values: unknown[] = [];
  for (const each of rows) for (const column of columns) values.push(read(column, each));
  return [`INSERT INTO ${quoted(tableName)} (${names}) VALUES ${rows.map(() => row).join(', ')}`, values];
}

export type Column = EntityMetadata['columns'][number];

/** As TypeORM would write it. */
function storedIn({ propertyName, transformer }: Column, row: ObjectLiteral): unknown {
  const value = row[propertyName];
  const { to = unchanged } = (transformer ?? {}) as Partial<ValueTransformer>;
  return to === unchanged ? value : to(value);
}

/** SQLite reads MySQL's quotes too. */
const quoted = (name: string) => `\`${name}\``;

interface Additions<E extends ObjectLiteral> {
  /** Whole rows, each primary key once, sorted by key: writers that lock in the same order can't deadlock. */
  rows: readonly E[];
  counters: readonly (keyof E & string)[];
}

/**
 * Adds to the counters of rows, in one statement. A missing row is created with the added values. TypeORM's upsert
 * overwrites, and would lose concurrent additions.
 */
export async function addUp<E extends ObjectLiteral>(
  manager: EntityManager,
  entity: new () => E,
  { rows, counters }: Additions<E>,
): Promise<void> {
  if (rows.length === 0) return;
  const metadata = manager.dataSource.getMetadata(entity);
  const onSqlite = manager.dataSource.options.type === 'better-sqlite3';
  const added = metadata.columns
    .filter(({ propertyName }) => counters.includes(propertyName))
    .map(({ databaseName }) => {
      const name = quoted(databaseName);
      const addend = onSqlite ? `excluded.${name}` : `VALUES(${name})`;
      return `${name} = ${quoted(metadata.tableName)}.${name} + ${addend}`;
    });
  const keys = metadata.primaryColumns.map(({ databaseName }) => quoted(databaseName)).join(', ');
  const conflict = onSqlite ? `ON CONFLICT (${keys}) DO UPDATE SET` : 'ON DUPLICATE KEY UPDATE';
  const [insert, values] = insertion(metadata, rows);
  await manager.query(`${insert} ${conflict} ${added.join(', ')}`, values);
}
