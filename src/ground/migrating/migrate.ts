import { type DataSource, MigrationExecutor, type QueryRunner } from 'typeorm';
import { type DatabaseTarget, isInMemory } from '../config/config.js';
import { type DatabaseSchema, withDataSource } from '../database/data-source.js';
import { emptyIfTableMissing } from '../database/database-errors.js';
import { AppError } from '../kernel/errors.js';
import { MigrationLock } from './migration-lock.js';

const MIGRATION_TIMEOUT_MS = 3_600_000;
/** The migration, the lock of older processes, and the lock's row have a connection each. */
const SETTINGS = { poolSize: 3, queryTimeoutMs: MIGRATION_TIMEOUT_MS };
const SQLITE_WAIT_MS = 60_000;
/** Of one database, because a server can have several gateways. A name has at most 64 characters. */
const LOCK_NAME = "CONCAT('petstore_migrations.', LEFT(SHA2(DATABASE(), 256), 40))";
/** Shorter than the deadline of the statement, so that the answer is MySQL's. */
const LOCK_WAIT_SECONDS = MIGRATION_TIMEOUT_MS / 1000 - 60;

/** A table that exists only during a copy. After a copy that was killed it tells its source and its start. */
export const UNFINISHED_COPY = 'unfinished_copy';

interface MigrateOptions {
  /** Whether the caller is the copy itself. */
  isCopy?: boolean;
  /** Gets a sentence on who migrates, while this process waits. */
  onWait?(sentence: string): void;
}

/**
 * Applies every pending migration and returns the names of those that it applied. When several processes call this at
 * once, also at several nodes of a cluster, each migration is applied by one of them, and the others wait. Throws an error
 * that names the migration that failed. Throws `AppError conflict` when a copy did not end: every start calls this, and must
 * not serve a part of the rows.
 */
export async function migrate(
  target: DatabaseTarget,
  schema: DatabaseSchema,
  { isCopy = false, onWait = () => {} }: MigrateOptions = {},
): Promise<string[]> {
  // The database would end with this connection, so `Database.open` migrates it.
  if (isInMemory(target)) return [];
  return withDataSource(target, schema, SETTINGS, async (source) => {
    const applied: string[] = [];
    const next = async () => (await pendingIn(source))[0]?.name;
    const isNeeded = async () => (await next()) !== undefined;
    for (;;) {
      if (!isCopy) await requireNoUnfinishedCopy(source);
      // Without a lock: a start with nothing to apply waits for nobody.
      if (!(await isNeeded())) return applied;
      await locked(target, source, { isNeeded, onWait }, async (mayBegin) => {
        for (let name = await next(); name && (await mayBegin(name)); name = await next()) {
          try {
            applied.push(...(await applyNext(source)));
          } catch (error) {
            // This process may have lost the lock meanwhile: then another one applies the migration.
            if (await mayBegin(name)) throw error;
          }
        }
      });
    }
  });
}

/** Undoes the newest migration; returns false when none is left. */
export function revertLastMigration(target: DatabaseTarget, schema: DatabaseSchema): Promise<boolean> {
  const options = { isNeeded: async () => true, onWait: () => {} };
  return withDataSource(target, schema, SETTINGS, async (source) => {
    const revert = () =>
      source.transaction(async ({ queryRunner }) => {
        const executor = new MigrationExecutor(source, queryRunner);
        const applied = await executor.getExecutedMigrations();
        if (applied.length === 0) return false;
        await executor.undoLastMigration();
        return true;
      });
    return (await locked(target, source, options, revert)) ?? false;
  });
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

interface LockOptions {
  /** Asked while this process waits: false ends the wait without the lock. */
  isNeeded(): Promise<boolean>;
  onWait(sentence: string): void;
}

/** Whether this process still has the lock, and may begin the migration of this name. */
type MayBegin = (migration: string) => Promise<boolean>;

/** Null = the lock was not needed any more. */
function locked<T>(
  target: DatabaseTarget,
  source: DataSource,
  options: LockOptions,
  work: (mayBegin: MayBegin) => Promise<T>,
): Promise<T | null> {
  return target.kind === 'sqlite' ? withFileLock(source, work) : withRowLock(source, options, work);
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

async function withFileLock<T>(source: DataSource, work: (mayBegin: MayBegin) => Promise<T>): Promise<T> {
  await source.query(`PRAGMA busy_timeout = ${SQLITE_WAIT_MS}`);
  // A table that is built again would delete the rows that refer to it. The statement has no effect in a transaction.
  await source.query('PRAGMA foreign_keys = OFF');
  return work(async () => true);
}

async function withRowLock<T>(
  source: DataSource,
  { isNeeded, onWait }: LockOptions,
  work: (mayBegin: MayBegin) => Promise<T>,
): Promise<T | null> {
  const lock = new MigrationLock(source, onWait);
  if (!(await lock.take(isNeeded))) return null;
  // Processes of the release before know only this lock. It belongs to the connection, so that stays open.
  const older = source.createQueryRunner();
  try {
    // MySQL answers 0 after the wait, and NULL when the statement was killed: without the lock two processes would migrate.
    const [answer] = await older.query(`SELECT GET_LOCK(${LOCK_NAME}, ?) AS taken`, [LOCK_WAIT_SECONDS]);
    if (Number(answer.taken) === 1) return await work((migration) => lock.renew(migration));
    throw new AppError(
      'unavailable',
      'A process of another release migrates the database and has not finished. Wait for it (`SHOW PROCESSLIST`), then start again.',
    );
  } finally {
    await older.query(`SELECT RELEASE_LOCK(${LOCK_NAME})`).catch(() => {});
    await older.release();
    await lock.release();
  }
}
