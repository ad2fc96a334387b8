import type { EntityManager, EntityMetadata, ObjectLiteral } from 'typeorm';

/** Few sizes, so that SQLite reuses its prepared statements. Larger sizes are no faster. */
const STATEMENT_ROWS = [250, 25, 1];

/** Inserts many rows, several times as fast as TypeORM's insert, which builds a new statement each time. */
export async function insertRows<E extends ObjectLiteral>(
  manager: EntityManager,
  entity: new () => E,
  rows: readonly E[],
): Promise<void> {
  let next = 0;
  for (const size of STATEMENT_ROWS) {
    for (; rows.length - next >= size; next += size) {
      await insertTogether(manager, entity, rows.slice(next, next + size));
    }
  }
}

/** Inserts the rows with one statement: all of them, or none. */
export async function insertTogether<E extends ObjectLiteral>(
  manager: EntityManager,
  entity: new () => E,
  rows: readonly E[],
): Promise<void> {
  await manager.query(...insertion(manager.dataSource.getMetadata(entity), rows));
}

function insertion<E extends ObjectLiteral>(
  { columns, connection: { driver }, tableName }: EntityMetadata,
  rows: readonly E[],
): [sql: string, values: unknown[]] {
  const names = columns.map(({ databaseName }) => driver.escape(databaseName)).join(', ');
  const row = `(${columns.map(() => '?').join(', ')})`;
  return [
    `INSERT INTO ${driver.escape(tableName)} (${names}) VALUES ${rows.map(() => row).join(', ')}`,
    rows.flatMap((each) => columns.map(({ propertyName }) => each[propertyName])),
  ];
}

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
  const { driver, options } = manager.dataSource;
  const quoted = (name: string) => driver.escape(name);
  const onSqlite = options.type === 'better-sqlite3';
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
