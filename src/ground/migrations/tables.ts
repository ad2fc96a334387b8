import type { MigrationInterface, QueryRunner, Table, TableColumnOptions } from 'typeorm';

/** A migration that only adds tables, and drops them when it is undone. D-4. */
export abstract class NewTables implements MigrationInterface {
  readonly locks = { mysql: null, sqlite: null };
  protected abstract readonly tables: readonly Table[];

  /** All that a definition can need of it; null = only a run tells. D-282. */
  get declared(): readonly Table[] | null {
    return this.up === NewTables.prototype.up ? this.tables : null;
  }

  /**
   * Text is utf8mb4 and compared by bytes. A server's default can be latin1 (MariaDB 10.11), which refuses emoji. It can also
   * ignore case, which makes two slugs, digests or subjects equal. D-7.
   */
  async up(runner: QueryRunner): Promise<void> {
    // Before a table is there: MySQL undoes none.
    const collation = isSqlite(runner) ? null : await this.collation(runner);
    for (const table of this.tables) {
      await runner.createTable(table);
      if (collation === null) continue;
      await runner.query(
        `ALTER TABLE \`${table.name}\` CONVERT TO CHARACTER SET utf8mb4 COLLATE ${collation}`,
      );
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of this.tables.toReversed()) await runner.dropTable(table);
  }

  /** Of the texts of each table, on MySQL. */
  protected async collation(_runner: QueryRunner): Promise<string> {
    return 'utf8mb4_bin';
  }
}

export function isSqlite(runner: QueryRunner): boolean {
  return runner.connection.options.type === 'better-sqlite3';
}

/**
 * Collations that compare all bytes, of MySQL and of MariaDB. `utf8mb4_bin` ignores trailing spaces: `Rex` and `Rex ` would
 * be equal, and `Rex` with a tab would precede `Rex`. SQLite compares all bytes.
 */
const EXACT_COLLATIONS = ['utf8mb4_0900_bin', 'utf8mb4_nopad_bin'];

/** Of this server. Throws an `Error` if it has none. */
export async function exactCollation(runner: QueryRunner): Promise<string> {
  const known: { name: string }[] = await runner.query(
    `SELECT collation_name AS name FROM information_schema.collations WHERE collation_name IN ('${EXACT_COLLATIONS.join("', '")}')`,
  );
  const [collation] = known;
  if (!collation) throw new Error(`The database needs one of the collations ${EXACT_COLLATIONS.join(', ')}.`);
  return collation.name;
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
