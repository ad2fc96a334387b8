import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';

/**
 * A migration that makes tables as this release's entities describe them, and drops them when it is undone. So a later
 * migration adds a column or an index only where it is missing: a new database has it from the start. D-4, D-231.
 */
abstract class FirstTables implements MigrationInterface {
  abstract readonly name: string;
  readonly locks = { mysql: null, sqlite: null };
  protected abstract readonly tables: readonly string[];

  /**
   * Text is utf8mb4 and compared by bytes. A server's default can be latin1 (MariaDB 10.11), which refuses emoji. It can also
   * ignore case, which makes two slugs, digests or subjects equal. D-7.
   */
  async up(runner: QueryRunner): Promise<void> {
    const { connection } = runner;
    for (const name of this.tables) {
      await runner.createTable(Table.create(connection.getMetadata(name), connection.driver));
      if (isSqlite(runner)) continue;
      await runner.query(`ALTER TABLE \`${name}\` CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const name of this.tables.toReversed()) await runner.dropTable(name);
  }
}

function isSqlite(runner: QueryRunner): boolean {
  return runner.connection.options.type === 'better-sqlite3';
}

/** Projects, their keys, and what is kept of the requests that change something. */
export class Projects1780000000000 extends FirstTables {
  readonly name = 'Projects1780000000000';
  protected readonly tables = ['projects', 'api_keys', 'idempotency_keys', 'audit_events'];
}

/**
 * Collations that compare all bytes, of MySQL and of MariaDB. `utf8mb4_bin` ignores trailing spaces: `Rex` and `Rex ` would
 * be equal, and `Rex` with a tab would precede `Rex`. SQLite compares all bytes.
 */
const EXACT_COLLATIONS = ['utf8mb4_0900_bin', 'utf8mb4_nopad_bin'];

/** Pets, the orders of their lists, and the state of imports. */
export class Pets1780000001000 extends FirstTables {
  readonly name = 'Pets1780000001000';
  protected readonly tables = ['pets', 'pet_imports', 'imported_files'];

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

/** Windows of the quotas, and bans of keys. */
export class RateLimits1780000002000 extends FirstTables {
  readonly name = 'RateLimits1780000002000';
  protected readonly tables = ['rate_windows', 'key_bans'];
}

/** Domains, certificates, orders, and the numbers of changes that processes follow. */
export class Domains1780000003000 extends FirstTables {
  readonly name = 'Domains1780000003000';
  protected readonly tables = [
    'change_sequences',
    'domains',
    'domain_events',
    'certificates',
    'acme_accounts',
    'acme_orders',
  ];

  override async up(runner: QueryRunner): Promise<void> {
    await super.up(runner);
    // A process locks `orders` while it counts orders.
    await runner.query("INSERT INTO change_sequences (name, value) VALUES ('hosts', 0), ('orders', 0)");
  }
}

/** Usage, and the log of requests that a project's owner reads. */
export class Usage1780000004000 extends FirstTables {
  readonly name = 'Usage1780000004000';
  protected readonly tables = ['usage_by_dimension', 'logged_requests'];
}
