import { type DataSource, MigrationExecutor, type QueryRunner } from 'typeorm';
import { type DatabaseTarget, isInMemory } from '../config/config.js';
import { AppError } from '../kernel/errors.js';
import { type DatabaseSchema, withDataSource } from './data-source.js';
import { emptyIfTableMissing } from './database-errors.js';

const MIGRATION_TIMEOUT_MS = 3_600_000;
const SETTINGS = { poolSize: 2, queryTimeoutMs: MIGRATION_TIMEOUT_MS };
const SQLITE_WAIT_MS = 60_000;
/** Of one database, because a server can have several gateways. A name has at most 64 characters. */
const LOCK_NAME = "CONCAT('petstore_migrations.', LEFT(SHA2(DATABASE(), 256), 40))";
/** Shorter than the deadline of the statement, so that the answer is MySQL's. */
const LOCK_WAIT_SECONDS = MIGRATION_TIMEOUT_MS / 1000 - 60;

/** A table that exists only during a copy. After a copy that was killed it tells its source and its start. */
export const UNFINISHED_COPY = 'unfinished_copy';

/**
 * Applies every pending migration and returns the names of those that it applied. When several processes call this at
 * once, each migration is applied by one of them. Throws an error that names the migration that failed. Throws `AppError
 * conflict` when a copy did not end: every start calls this, and must not serve a part of the rows.
 */
export async function migrate(
  target: DatabaseTarget,
  schema: DatabaseSchema,
  /** Whether the caller is the copy itself. */
  isCopy = false,
): Promise<string[]> {
  // The database would end with this connection, so `Database.open` migrates it.
  if (isInMemory(target)) return [];
  return withSchemaLock(target, schema, async (source) => {
    if (!isCopy) await requireNoUnfinishedCopy(source);
    const applied: string[] = [];
    // Outside a transaction: a start with nothing to apply waits for no other writer of a SQLite file.
    while ((await pendingIn(source)).length > 0) applied.push(...(await applyNext(source)));
    return applied;
  });
}

/** Undoes the newest migration; returns false when none is left. */
export function revertLastMigration(target: DatabaseTarget, schema: DatabaseSchema): Promise<boolean> {
  return withSchemaLock(target, schema, (source) =>
    source.transaction(async ({ queryRunner }) => {
      const executor = new MigrationExecutor(source, queryRunner);
      const applied = await executor.getExecutedMigrations();
      if (applied.length === 0) return false;
      await executor.undoLastMigration();
      return true;
    }),
  );
}

/** A connection to the database, of TypeORM or of a driver. */
export interface Queries {
  query(sql: string): ReturnType<QueryRunner['query']>;
}

/** Throws `AppError conflict` when a copy into the database did not end. */
export async function requireNoUnfinishedCopy(queries: Queries): Promise<void> {
  const statement = `SELECT source, started_at FROM ${UNFINISHED_COPY}`;
  const [found] = await queries.query(statement).catch(emptyIfTableMissing);
  if (!found) return;
  throw new AppError(
    'conflict',
    `The copy of ${found.source} that began at ${found.started_at} runs or was interrupted: the database has a part of the rows. If it does not run, repeat \`petstore copy\` with --force.`,
  );
}

async function withSchemaLock<T>(
  target: DatabaseTarget,
  schema: DatabaseSchema,
  work: (source: DataSource) => Promise<T>,
): Promise<T> {
  const exclusively = target.kind === 'sqlite' ? withFileLock : withNamedLock;
  return withDataSource(target, schema, SETTINGS, (source) => exclusively(source, work));
}

/**
 * Applies the oldest pending migration and returns its name; empty = another process was faster. SQLite has no named
 * locks: there the transaction locks the file, so the search for the migration is a part of it.
 */
function applyNext(source: DataSource): Promise<string[]> {
  return source.transaction(async ({ queryRunner }) => {
    const [next] = await pendingIn(source, queryRunner);
    if (!next) return [];
    await new MigrationExecutor(source, queryRunner).executeMigration(next).catch((error: Error) => {
      // It says what the records, or somebody's index, do not allow.
      if (error instanceof AppError)
        throw new AppError(error.code, `The migration ${next.name} was not applied. ${error.message}`);
      throw new Error(`the migration ${next.name} failed: ${error.message}`, { cause: error });
    });
    return [next.name];
  });
}

function pendingIn(source: DataSource, runner?: QueryRunner) {
  return new MigrationExecutor(source, runner).getPendingMigrations();
}

async function withFileLock<T>(source: DataSource, work: (source: DataSource) => Promise<T>): Promise<T> {
  await source.query(`PRAGMA busy_timeout = ${SQLITE_WAIT_MS}`);
  // A table that is built again would delete the rows that refer to it. The statement has no effect in a transaction.
  await source.query('PRAGMA foreign_keys = OFF');
  return work(source);
}

async function withNamedLock<T>(source: DataSource, work: (source: DataSource) => Promise<T>): Promise<T> {
  // The lock belongs to this connection, so it stays open until the work is done.
  const holder = source.createQueryRunner();
  try {
    // MySQL answers 0 after the wait, and NULL when the statement was killed: without the lock two processes would migrate.
    const [answer] = await holder.query(`SELECT GET_LOCK(${LOCK_NAME}, ?) AS taken`, [LOCK_WAIT_SECONDS]);
    if (Number(answer.taken) === 1) return await work(source);
    throw new AppError(
      'unavailable',
      'Another process migrates the database and has not finished. Wait for it (`SHOW PROCESSLIST`), then start again.',
    );
  } finally {
    await holder.query(`SELECT RELEASE_LOCK(${LOCK_NAME})`).catch(() => {});
    await holder.release();
  }
}
