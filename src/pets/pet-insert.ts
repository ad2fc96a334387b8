import type { EntityManager } from 'typeorm';
import { Pet } from './pet.entity.js';

/** Few different sizes, so that SQLite's prepared statements are used again. Larger ones are no faster. */
const STATEMENT_ROWS = [250, 25, 1];

/** Inserts many pets: several times as fast as TypeORM's own insert, which builds each statement anew. */
export async function insertPets(manager: EntityManager, pets: Pet[]): Promise<void> {
  let next = 0;
  for (const size of STATEMENT_ROWS) {
    const { sql, columns } = statement(manager, size);
    for (; pets.length - next >= size; next += size) {
      const rows = pets.slice(next, next + size);
      await manager.query(
        sql,
        rows.flatMap((pet) => columns.map((column) => pet[column])),
      );
    }
  }
}

function statement(manager: EntityManager, rows: number): { sql: string; columns: (keyof Pet)[] } {
  const { driver } = manager.dataSource;
  const { columns, tableName } = manager.dataSource.getMetadata(Pet);
  const names = columns.map(({ databaseName }) => driver.escape(databaseName)).join(', ');
  const values = Array(rows)
    .fill(`(${columns.map(() => '?').join(', ')})`)
    .join(', ');
  return {
    sql: `INSERT INTO ${driver.escape(tableName)} (${names}) VALUES ${values}`,
    columns: columns.map(({ propertyName }) => propertyName as keyof Pet),
  };
}
