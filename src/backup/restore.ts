import type { DatabaseTarget } from '../config/config.js';
import type { DatabaseSchema } from '../database/data-source.js';
import { migrate, requireNoUnfinishedRestore, revertLastMigration } from '../database/migrate.js';
import { AppError } from '../kernel/errors.js';
import { nameOf } from '../migrations/plan/applied-migrations.js';
import type { BackupContent } from './backup-format.js';
import { type ReadOptions, readBackup } from './read-backup.js';
import { RestoreTarget, requireSame } from './restore-target.js';
import { RowLoader } from './row-loader.js';
import { tablesOf } from './schema-tables.js';

interface Restore {
  path: string;
  /** The name that an interrupted restore is known by. */
  fileName: string;
  /** The result of `verifyBackup` for the file. */
  content: BackupContent;
  isForced: boolean;
  startedAt: string;
  reading: ReadOptions;
}

/**
 * Fills the database with the rows of a verified backup. Returns the names of the migrations that ran on its rows. Throws
 * `AppError` before the first write when the database has rows, or the backup is of a newer release.
 */
export async function restore(
  target: DatabaseTarget,
  schema: DatabaseSchema,
  wanted: Restore,
): Promise<string[]> {
  const names = schema.migrations.map((Migration) => nameOf(new Migration()));
  const at = names.indexOf(wanted.content.header.schema);
  if (at < 0) throw newerRelease(wanted.content);
  const ofFile = { ...schema, migrations: schema.migrations.slice(0, at + 1) };
  await prepare(target, schema, wanted, at + 1);
  await migrate(target, ofFile, { isRestore: true });
  await load(target, schema, wanted);
  const applied = await migrate(target, schema, { isRestore: true });
  await onTarget(target, schema, (database) => database.unmark());
  return applied;
}

/** All checks, then an empty database with no more migrations than the backup's. */
async function prepare(
  target: DatabaseTarget,
  schema: DatabaseSchema,
  { fileName, content, isForced, startedAt }: Restore,
  migrations: number,
): Promise<void> {
  const applied = await onTarget(target, schema, async (database) => {
    const before = await database.migrations();
    const isNewest = migrations === schema.migrations.length;
    if (isNewest) requireSame(content.tables, tablesOf(database.source));
    if (!isForced) await requireEmpty(database);
    await database.mark(fileName, startedAt);
    await database.empty();
    return before;
  });
  for (let left = applied.length; left > migrations; left -= 1) await revertLastMigration(target, schema);
}

async function requireEmpty(database: RestoreTarget): Promise<void> {
  await requireNoUnfinishedRestore(database.source);
  const filled = await database.tablesWithRows();
  if (filled.length === 0) return;
  throw new AppError(
    'conflict',
    `The database is not empty: it has rows in ${filled.join(', ')}. Choose an empty one, or use --force, which deletes all its rows first.`,
  );
}

async function load(
  target: DatabaseTarget,
  schema: DatabaseSchema,
  { path, content, reading }: Restore,
): Promise<void> {
  await onTarget(target, schema, async (database) => {
    await database.requireTables(content.tables);
    // The migrations themselves add rows.
    await database.empty(content.tables);
    const loader = new RowLoader(database.source);
    for await (const part of readBackup(path, reading)) await loader.add(part);
    await loader.flush();
    await database.requireRows(content.rows);
  });
}

async function onTarget<T>(
  target: DatabaseTarget,
  schema: DatabaseSchema,
  work: (database: RestoreTarget) => Promise<T>,
): Promise<T> {
  const database = await RestoreTarget.open(target, schema);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

function newerRelease({ header }: BackupContent): AppError {
  return new AppError(
    'invalid_request',
    `The backup has the schema ${header.schema}, which this release does not know. Use the release ${header.version} that wrote it, or a newer one.`,
  );
}
