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
    const { sql, columns } = statement(manager, entity, size);
    for (; rows.length - next >= size; next += size) {
      const values = rows.slice(next, next + size).flatMap((row) => columns.map((column) => row[column]));
      await manager.query(sql, values);
    }
  }
}

function statement<E extends ObjectLiteral>(manager: EntityManager, entity: new () => E, rows: number) {
  const { driver } = manager.dataSource;
  const { columns, tableName } = manager.dataSource.getMetadata(entity);
  const names = columns.map(({ databaseName }) => driver.escape(databaseName)).join(', ');
  const values = Array(rows)
    .fill(`(${columns.map(() => '?').join(', ')})`)
    .join(', ');
  return {
    sql: `INSERT INTO ${driver.escape(tableName)} (${names}) VALUES ${values}`,
    columns: columns.map(({ propertyName }) => propertyName),
  };
}
