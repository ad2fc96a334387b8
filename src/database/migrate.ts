import type libsql from 'libsql';
import type { DataSource } from 'typeorm';
import { type DatabaseTarget, isInMemory } from '../config/config.js';
import { createDataSource, type DatabaseSchema } from './data-source.js';

const MIGRATION_TIMEOUT_MS = 3_600_000;
const LOCK = 'petstore_migrations';
const LOCK_WAIT_SECONDS = 600;

/** Applies every pending migration and returns their names. When several processes call this at once, one does the work. */
export async function migrate(target: DatabaseTarget, schema: DatabaseSchema): Promise<string[]> {
  // The database would end with this connection, so `migrateInMemory` runs on the connection that uses it.
  if (isInMemory(target)) return [];
  return withSchemaLock(target, schema, async (source) => {
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
