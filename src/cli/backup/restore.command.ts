import { statSync } from 'node:fs';
import { basename } from 'node:path';
import type { Command } from 'commander';
import { type BackupContent, totalOf } from '../../backup/backup-format.js';
import { ConfigError, type DatabaseTarget, databaseTarget, isInMemory } from '../../config/config.js';
import { openProblem } from '../../database/database-errors.js';
import { AppError } from '../../kernel/errors.js';
import { ProgressBar } from '../long-runs/progress-bar.js';
import { stopSignal } from '../long-runs/stop-signal.js';
import { EXIT, grouped, type Output } from '../output.js';
import { verified } from './verify.command.js';

interface RestoreOptions {
  into: string;
  force?: boolean;
}

export function restoreCommand(program: Command, output: Output): void {
  program
    .command('restore <file>')
    .description('Fill an empty database from a backup. SQLite, MySQL and MariaDB read each other’s backups.')
    .requiredOption('--into <url>', 'the database to fill, in the form of DATABASE_URL')
    .option('--force', 'delete all rows of the database first; stop every gateway on it before')
    .addHelpText(
      'after',
      `
Verifies the whole file before it writes. Refuses a database with rows, and a backup of a newer release. Applies the
migrations: those up to the backup's schema before the rows are stored, the others after them.
While it runs, no gateway starts on the database. After an interruption use --force to begin again.
Private keys of certificates stay sealed: the gateway needs the same SECRET_KEY as before.
Exit code: 0 restored, 1 refused or interrupted, 2 wrong usage.

Examples:
  $ petstore restore petstore.backup.gz --into sqlite:./var/restored.sqlite
  $ petstore restore petstore.backup.gz --into mysql://user:password@host:3306/petstore`,
    )
    .action(async (path: string, { into, force = false }: RestoreOptions) => {
      const target = databaseTarget('--into', into);
      if (isInMemory(target)) {
        throw new ConfigError('--into names a database in memory, which would end with this command.');
      }
      output.exitCode = await runRestore(path, target, force, output);
    });
}

async function runRestore(
  path: string,
  target: DatabaseTarget,
  isForced: boolean,
  output: Output,
): Promise<number> {
  const startedAtMs = performance.now();
  requireFile(path);
  const content = await verified(path, output);
  if (!content) {
    output.fail('conflict', 'Interrupted. The database is unchanged.');
    return EXIT.refused;
  }
  const migrated = await fill(target, { path, content, isForced, output });
  const place = placeOf(target);
  if (!migrated) {
    output.fail('conflict', `Interrupted. ${place} has a part of the rows. Use --force to begin again.`);
    return EXIT.refused;
  }
  const seconds = (performance.now() - startedAtMs) / 1000;
  const { header, rows } = content;
  const lines = [
    `${grouped(totalOf(rows))} rows of ${Object.keys(rows).length} tables are restored into ${place} in ${seconds.toFixed(1)} s.`,
  ];
  if (migrated.length > 0) lines.push(`Applied to them: ${migrated.join(', ')}.`);
  const json = {
    file: path,
    into: place,
    createdAt: header.createdAt,
    rows,
    migrated,
    seconds: Number(seconds.toFixed(3)),
  };
  output.result(json, lines.join('\n'));
  return EXIT.ok;
}

/** A pipe can be read only once: it would be empty after the check, when the database is empty, too. */
function requireFile(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found || found.isFile()) return;
  throw new AppError(
    'invalid_request',
    `${path} is not a regular file, and a restore reads its file twice. Save the backup as a file first.`,
  );
}

interface Fill {
  path: string;
  content: BackupContent;
  isForced: boolean;
  output: Output;
}

/** The migrations that ran on the restored rows; null = interrupted. */
async function fill(
  target: DatabaseTarget,
  { path, content, isForced, output }: Fill,
): Promise<string[] | null> {
  const [{ restore }, { DATABASE_SCHEMA }] = await Promise.all([
    import('../../backup/restore.js'),
    import('../../app/database-schema.js'),
  ]);
  const bar = new ProgressBar(process.stderr, { rows: 0, done: 0 }, process.stderr.isTTY && !output.isJson);
  const { signal, release } = stopSignal();
  const total = statSync(path).size;
  try {
    return await restore(target, DATABASE_SCHEMA, {
      path,
      fileName: basename(path).slice(0, 255),
      content,
      isForced,
      startedAt: new Date().toISOString(),
      reading: { signal, onProgress: (rows, done) => bar.update({ rows, done, total }) },
    });
  } catch (error) {
    if (signal.aborted) return null;
    if (error instanceof AppError) throw error;
    throw new AppError('unavailable', `The database ${openProblem(target, error)}.`, { cause: error });
  } finally {
    release();
    bar.clear();
  }
}

/** Without the password. */
function placeOf(target: DatabaseTarget): string {
  if (target.kind === 'sqlite') return `sqlite:${target.path}`;
  const { host, pathname } = new URL(target.url);
  return `${target.kind}://${host}${pathname}`;
}
