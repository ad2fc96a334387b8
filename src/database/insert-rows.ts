import type { EntityManager, ObjectLiteral } from 'typeorm';

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
  const { driver } = manager.dataSource;
  const { columns, tableName } = manager.dataSource.getMetadata(entity);
  const names = columns.map(({ databaseName }) => driver.escape(databaseName)).join(', ');
  const row = `(${columns.map(() => '?').join(', ')})`;
  const values = rows.flatMap((each) => columns.map(({ propertyName }) => each[propertyName]));
  const sql = `INSERT INTO ${driver.escape(tableName)} (${names}) VALUES ${rows.map(() => row).join(', ')}`;
  await manager.query(sql, values);
}
