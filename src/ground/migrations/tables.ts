import type { MigrationInterface, QueryRunner, Table, TableColumnOptions } from 'typeorm';

/** A migration that only adds tables, and drops them when it is undone. D-4. */
export abstract class NewTables implements MigrationInterface {
  readonly locks = { mysql: null, sqlite: null };
  protected abstract readonly tables: readonly Table[];

  /**
   * Text is utf8mb4 and compared by bytes. A server's default can be latin1 (MariaDB 10.11), which refuses emoji. It can also
   * ignore case, which makes two slugs, digests or subjects equal. D-7.
   */
  async up(runner: QueryRunner): Promise<void> {
    for (const table of this.tables) {
      await runner.createTable(table);
      if (isSqlite(runner)) continue;
      await runner.query(
        `ALTER TABLE \`${table.name}\` CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
      );
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of this.tables.toReversed()) await runner.dropTable(table);
  }
}

export function isSqlite(runner: QueryRunner): boolean {
  return runner.connection.options.type === 'better-sqlite3';
}

export const int64 = (name: string): TableColumnOptions => ({ name, type: 'bigint' });
export const integer = (name: string): TableColumnOptions => ({ name, type: 'integer' });
export const long = (name: string): TableColumnOptions => ({ name, type: 'text' });
export const text = (name: string, length: number): TableColumnOptions => ({
  name,
  type: 'varchar',
  length: String(length),
});
export const optional = (column: TableColumnOptions): TableColumnOptions => ({ ...column, isNullable: true });
export const primary = (column: TableColumnOptions): TableColumnOptions => ({ ...column, isPrimary: true });
