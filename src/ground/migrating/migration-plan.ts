import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DatabaseTarget } from '../config/config.js';
import { type DatabaseSchema, withDataSource } from '../database/data-source.js';
import { emptyIfTableMissing } from '../database/database-errors.js';
import { AppError } from '../kernel/errors.js';
import { migrate, type Queries } from './migrate.js';

const SETTINGS = { poolSize: 1, queryTimeoutMs: 10_000 };

export interface PendingMigration {
  name: string;
  /** The waits of other statements while it runs. */
  locks: string | null;
}

/** The migrations that `migrate` would run, oldest first. Changes nothing, and creates no file. */
export async function pendingMigrations(
  target: DatabaseTarget,
  schema: DatabaseSchema,
): Promise<PendingMigration[]> {
  const applied = new Set(await appliedTo(target, schema));
  return schema.migrations
    .map((Migration) => ({
      name: Migration.name,
      locks: new Migration().locks[target.kind === 'sqlite' ? 'sqlite' : 'mysql'],
    }))
    .filter(({ name }) => !applied.has(name));
}

/**
 * Runs the pending migrations on a copy of the database, and returns how many seconds each took. Throws `AppError conflict`
 * unless the copy has the same ones pending.
 */
export async function timeOnCopy(
  pending: readonly PendingMigration[],
  copy: DatabaseTarget,
  schema: DatabaseSchema,
): Promise<Map<string, number>> {
  const names = (migrations: readonly PendingMigration[]) => migrations.map(({ name }) => name).join(', ');
  const ofCopy = names(await pendingMigrations(copy, schema));
  if (ofCopy !== names(pending)) {
    throw new AppError(
      'conflict',
      `The copy has other pending migrations than the database: ${ofCopy || 'none'}. Make it from a backup of the database.`,
    );
  }
  const seconds = new Map<string, number>();
  for (const [at, { name }] of schema.migrations.entries()) {
    if (!pending.some((migration) => migration.name === name)) continue;
    const startedAtMs = performance.now();
    await migrate(copy, { ...schema, migrations: schema.migrations.slice(0, at + 1) });
    seconds.set(name, (performance.now() - startedAtMs) / 1000);
  }
  return seconds;
}

/** Two URLs can name one database: by a name and an address of the server, or by a link to the file. */
export async function isSameDatabase(one: DatabaseTarget, other: DatabaseTarget): Promise<boolean> {
  return (await placeOf(one)) === (await placeOf(other));
}

async function placeOf(target: DatabaseTarget): Promise<string> {
  if (target.kind === 'sqlite') {
    const file = statSync(target.path, { throwIfNoEntry: false });
    return file ? `${file.dev}:${file.ino}` : resolve(target.path);
  }
  const [{ place }] = await withDataSource(target, { entities: [], migrations: [] }, SETTINGS, (source) =>
    source.query("SELECT CONCAT(@@hostname, ':', @@port, '/', DATABASE()) AS place"),
  );
  return place;
}

async function appliedTo(target: DatabaseTarget, schema: DatabaseSchema): Promise<string[]> {
  // The driver would create the file.
  if (target.kind === 'sqlite' && !existsSync(target.path)) return [];
  return withDataSource(target, schema, SETTINGS, (source) => appliedMigrations(source, source.migrations));
}

/**
 * The applied migrations, oldest first; empty = the database was never migrated. Throws `AppError conflict` when a newer
 * release, or another program, has migrated it.
 */
export async function appliedMigrations(queries: Queries, known: readonly object[]): Promise<string[]> {
  const rows = await queries.query('SELECT name FROM migrations ORDER BY id').catch(emptyIfTableMissing);
  const names: string[] = rows.map(({ name }: { name: string }) => name);
  const knownNames = known.map((migration) => migration.constructor.name);
  const unknown = names.find((name) => !knownNames.includes(name));
  if (unknown === undefined) return names;
  throw new AppError(
    'conflict',
    `The database has the migration ${unknown}, which this release does not know. Use the release that migrated it.`,
  );
}
