import type libsql from 'libsql';
import type { DataSource } from 'typeorm';
import { type DatabaseTarget, isInMemory } from '../config.js';
import { createDataSource } from './data-source.js';

const MIGRATION_TIMEOUT_MS = 3_600_000;
const LOCK = 'petstore_migrations';
const LOCK_WAIT_SECONDS = 600;

/** Applies every pending migration and returns their names. Several processes may call this at once: one does the work. */
export async function migrate(target: DatabaseTarget): Promise<string[]> {
  // Its connection would end here, and the database with it: `migrateInMemory` runs where it is used.
  if (isInMemory(target)) return [];
  return withSchemaLock(target, async (source) => {
    const applied = await source.runMigrations({ transaction: 'each' });
    return applied.map(({ name }) => name);
  });
}

/** Undoes the newest migration; returns false when none is left. */
export function revertLastMigration(target: DatabaseTarget): Promise<boolean> {
  return withSchemaLock(target, async (source) => {
    const rows = await source.query('SELECT name FROM migrations');
    if (rows.length === 0) return false;
    await source.undoLastMigration({ transaction: 'each' });
    return true;
  });
}

/**
 * Applies every migration to a database that ends with this connection. TypeORM compares `PRAGMA table_info` with plain
 * numbers: with exact integers, a migration that alters a table would take every column of it for NOT NULL.
 */
export async function migrateInMemory(source: DataSource): Promise<void> {
  const { databaseConnection } = source.driver as unknown as { databaseConnection: libsql.Database };
  databaseConnection.defaultSafeIntegers(false);
  await source.runMigrations();
  databaseConnection.defaultSafeIntegers(true);
}

async function withSchemaLock<T>(
  target: DatabaseTarget,
  work: (source: DataSource) => Promise<T>,
): Promise<T> {
  const source = await createDataSource(target, {
    poolSize: 2,
    queryTimeoutMs: MIGRATION_TIMEOUT_MS,
    exactIntegers: false,
  });
  await source.initialize();
  try {
    if (target.kind === 'sqlite') return await exclusivelyOnSqlite(source, work);
    // The lock belongs to the connection, which is therefore kept until the work is done.
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

/** SQLite has no named lock; whoever loses the race for the file looks again, and finds the work done. */
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
