import { type MigrationInterface, type QueryRunner, TableIndex } from 'typeorm';

const INDEXES = [
  new TableIndex({ name: 'pets_name', columnNames: ['project_id', 'name', 'id'] }),
  new TableIndex({ name: 'pets_status_name', columnNames: ['project_id', 'status', 'name', 'id'] }),
];

/**
 * Collations that compare all bytes, of MySQL and of MariaDB. `utf8mb4_bin` ignores trailing spaces: `Rex` and `Rex ` would
 * be equal, and `Rex` with a tab would precede `Rex`.
 */
const EXACT_COLLATIONS = ['utf8mb4_0900_bin', 'utf8mb4_nopad_bin'];

/** Adds the orders of lists by name. */
export class PetOrders1770000006000 implements MigrationInterface {
  name = 'PetOrders1770000006000';
  readonly locks = {
    mysql:
      'Writes to pets wait while the table is copied for its new collation; reads continue. Both continue while the two indexes are built.',
    sqlite: 'Writes wait while two indexes of pets are built.',
  };

  async up(runner: QueryRunner): Promise<void> {
    if (!isSqlite(runner)) await collateNames(runner, await exactCollation(runner));
    for (const index of INDEXES) await runner.createIndex('pets', index);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const { name = '' } of INDEXES) await runner.dropIndex('pets', name);
    if (!isSqlite(runner)) await collateNames(runner, 'utf8mb4_bin');
  }
}

/** SQLite compares all bytes. */
function isSqlite(runner: QueryRunner): boolean {
  return runner.connection.options.type === 'better-sqlite3';
}

async function exactCollation(runner: QueryRunner): Promise<string> {
  const known: { name: string }[] = await runner.query(
    `SELECT collation_name AS name FROM information_schema.collations WHERE collation_name IN ('${EXACT_COLLATIONS.join("', '")}')`,
  );
  const [collation] = known;
  if (!collation) throw new Error(`The database needs one of the collations ${EXACT_COLLATIONS.join(', ')}.`);
  return collation.name;
}

async function collateNames(runner: QueryRunner, collation: string): Promise<void> {
  await runner.query(
    `ALTER TABLE pets MODIFY name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE ${collation} NOT NULL`,
  );
}
