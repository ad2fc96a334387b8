import type libsql from 'libsql';
import type { DataSource } from 'typeorm';
import { type DatabaseTarget, isInMemory } from '../config/config.js';
import { AppError } from '../kernel/errors.js';
import { createDataSource, type DatabaseSchema } from './data-source.js';
import { isTableMissing } from './database-errors.js';

const MIGRATION_TIMEOUT_MS = 3_600_000;
const LOCK = 'petstore_migrations';
const LOCK_WAIT_SECONDS = 600;

/** A table that exists only during a restore. After a restore that was killed it tells its file and its start. */
export const UNFINISHED_RESTORE = 'unfinished_restore';

interface MigrateOptions {
  /** The caller is the restore itself. */
  isRestore?: boolean;
}

/**
 * Applies every pending migration and returns their names. When several processes call this at once, one does the work.
 * Throws `AppError conflict` when a restore did not end: every start calls this, and must not serve a part of the rows.
 */
export async function migrate(
  target: DatabaseTarget,
  schema: DatabaseSchema,
  { isRestore = false }: MigrateOptions = {},
): Promise<string[]> {
  // The database would end with this connection, so `migrateInMemory` runs on the connection that uses it.
  if (isInMemory(target)) return [];
  return withSchemaLock(target, schema, async (source) => {
    if (!isRestore) await requireNoUnfinishedRestore(source);
    const applied = await source.runMigrations({ transaction: 'each' });
    return applied.map(({ name }) => name);
  });
}

/** Undoes the newest migration; returns false when none is left. */
export function revertLastMigration(target: DatabaseTarget, schema: DatabaseSchema): Promise<boolean> {
  return withSchemaLock(target, schema, async (source) => {
    const rows = await source.query('SELECT name FROM migrations');
    if (rows.length === 0) return false;
    await source.undoLastMigration({ transaction: 'each' });
    return true;
  });
}

/**
 * Applies every migration to a database that ends with this connection. TypeORM compares `PRAGMA table_info` with plain
 * numbers: with exact integers, a migration that alters a table would treat all its columns as NOT NULL.
 */
export async function migrateInMemory(source: DataSource): Promise<void> {
  const { databaseConnection } = source.driver as unknown as { databaseConnection: libsql.Database };
  databaseConnection.defaultSafeIntegers(false);
  await source.runMigrations();
  databaseConnection.defaultSafeIntegers(true);
}

interface Queries {
  query(sql: string): Promise<unknown[]>;
}

/** Throws `AppError conflict` when a restore into the database did not end. */
export async function requireNoUnfinishedRestore(queries: Queries): Promise<void> {
  const rows = await queries.query(`SELECT file, started_at FROM ${UNFINISHED_RESTORE}`).catch((error) => {
    if (isTableMissing(error)) return [];
    throw error;
  });
  const [found] = rows as { file: string; started_at: string }[];
  if (!found) return;
  throw new AppError(
    'conflict',
    `The restore of ${found.file} that began at ${found.started_at} runs or was interrupted: the database has a part of the rows. If it does not run, repeat \`petstore restore\` with --force.`,
  );
}

async function withSchemaLock<T>(
  target: DatabaseTarget,
  schema: DatabaseSchema,
  work: (source: DataSource) => Promise<T>,
): Promise<T> {
  const source = await createDataSource(target, schema, {
    poolSize: 2,
    queryTimeoutMs: MIGRATION_TIMEOUT_MS,
    exactIntegers: false,
  });
  await source.initialize();
  try {
    if (target.kind === 'sqlite') return await exclusivelyOnSqlite(source, work);
    // The lock belongs to this connection, so it stays open until the work is done.
    const holder = source.createQueryRunner();
    try {
      await holder.query('SELECT GET_LOCK(?, ?)', [LOCK, LOCK_WAIT_SECONDS]);
      return await work(source);
    } finally {
      await holder.query('SELECT RELEASE_LOCK(?)', [LOCK]).catch(() => {});
      await holder.release();
    }
  } finally {
    await source.destroy();
  }
}

/** SQLite has no named locks. A process that loses the race for the file retries, and finds the work done. */
async function exclusivelyOnSqlite<T>(
  source: DataSource,
  work: (source: DataSource) => Promise<T>,
): Promise<T> {
  await source.query('PRAGMA busy_timeout = 10000');
  try {
    return await work(source);
  } catch {
    return await work(source);
  }
}
