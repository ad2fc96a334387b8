import type { QueryRunner, Table, TableColumnOptions } from 'typeorm';

/**
 * Creates tables whose text is utf8mb4 and compared by bytes. A server's default can be latin1 (MariaDB 10.11), which
 * refuses emoji. It can also ignore case, which makes two slugs, digests or subjects equal.
 */
export async function createTables(runner: QueryRunner, tables: readonly Table[]): Promise<void> {
  const onSqlite = runner.connection.options.type === 'better-sqlite3';
  for (const table of tables) {
    await runner.createTable(table);
    if (onSqlite) continue;
    await runner.query(`ALTER TABLE \`${table.name}\` CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`);
  }
}

export async function dropTables(runner: QueryRunner, tables: readonly Table[]): Promise<void> {
  for (const table of tables.toReversed()) await runner.dropTable(table);
}

export const int64 = (name: string): TableColumnOptions => ({ name, type: 'bigint' });
export const integer = (name: string): TableColumnOptions => ({ name, type: 'integer' });
export const text = (name: string, length: number): TableColumnOptions => ({
  name,
  type: 'varchar',
  length: String(length),
});
export const optional = (column: TableColumnOptions): TableColumnOptions => ({ ...column, isNullable: true });
export const primary = (column: TableColumnOptions): TableColumnOptions => ({ ...column, isPrimary: true });
