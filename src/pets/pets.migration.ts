import { type QueryRunner, Table } from 'typeorm';
import { int64, isSqlite, NewTables, optional, primary, text } from '../ground/migrations/tables.js';

/**
 * Collations that compare all bytes, of MySQL and of MariaDB. `utf8mb4_bin` ignores trailing spaces: `Rex` and `Rex ` would
 * be equal, and `Rex` with a tab would precede `Rex`. SQLite compares all bytes.
 */
const EXACT_COLLATIONS = ['utf8mb4_0900_bin', 'utf8mb4_nopad_bin'];

/** Pets, and the orders of their lists. */
export class Pets1780000001000 extends NewTables {
  protected readonly tables = [
    new Table({
      name: 'pets',
      withoutRowid: true,
      columns: [
        primary(int64('project_id')),
        primary(int64('id')),
        text('name', 255),
        int64('category_id'),
        optional(text('status', 16)),
        int64('created_at_ms'),
      ],
      // All columns, so that a page is one range of one index and reads no row of the table (D-186).
      indices: [
        {
          name: 'pets_status',
          columnNames: ['project_id', 'status', 'id', 'name', 'category_id', 'created_at_ms'],
        },
        {
          name: 'pets_name',
          columnNames: ['project_id', 'name', 'id', 'category_id', 'status', 'created_at_ms'],
        },
        {
          name: 'pets_status_name',
          columnNames: ['project_id', 'status', 'name', 'id', 'category_id', 'created_at_ms'],
        },
      ],
    }),
  ];

  /** The collation is no part of a definition. */
  override get declared() {
    return this.tables;
  }

  override async up(runner: QueryRunner): Promise<void> {
    await super.up(runner);
    if (isSqlite(runner)) return;
    const collation = await exactCollation(runner);
    await runner.query(
      `ALTER TABLE pets MODIFY name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE ${collation} NOT NULL`,
    );
  }
}

async function exactCollation(runner: QueryRunner): Promise<string> {
  const known: { name: string }[] = await runner.query(
    `SELECT collation_name AS name FROM information_schema.collations WHERE collation_name IN ('${EXACT_COLLATIONS.join("', '")}')`,
  );
  const [collation] = known;
  if (!collation) throw new Error(`The database needs one of the collations ${EXACT_COLLATIONS.join(', ')}.`);
  return collation.name;
}
