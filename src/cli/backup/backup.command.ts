import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Command } from 'commander';
import { totalOf } from '../../backup/backup-format.js';
import { version } from '../../kernel/version.js';
import { type FileTarget, newFile, standardOutput } from '../long-runs/file-target.js';
import { ProgressBar } from '../long-runs/progress-bar.js';
import { stopSignal } from '../long-runs/stop-signal.js';
import { EXIT, grouped, type Output } from '../output.js';
import { sharedDatabase } from '../session.js';
import { verifyCommand } from './verify.command.js';

/** The file has digests of keys and sealed private keys: only its owner may read it. */
const PRIVATE = 0o600;
/** Faster than the default, for a slightly larger file. */
const LEVEL = 3;

export function backupCommand(program: Command, output: Output): void {
  const backup = program
    .command('backup')
    .argument('<file>', 'where the backup is written; - is standard output')
    .description('Write all data to one file while the gateway serves. `petstore restore` reads it back.')
    .option('--force', 'replace an existing file')
    .addHelpText(
      'after',
      `
The file has every table as it was at one moment: gzipped NDJSON with row counts and a SHA-256. It appears when it is
complete, with the permissions 0600. It has digests of API keys, and private keys as SECRET_KEY sealed them: keep
SECRET_KEY elsewhere, because without it those certificates can't be used.
Exit code: 0 complete, 1 refused or interrupted, 2 wrong usage.

Examples:
  $ petstore backup petstore.backup.gz
  $ petstore backup - | aws s3 cp - s3://backups/petstore.backup.gz
  $ petstore backup verify petstore.backup.gz`,
    )
    .action(async (file: string, { force = false }: { force?: boolean }, command: Command) => {
      const path = file === '-' ? undefined : file;
      if (path === undefined && output.isJson) {
        command.error('error: --json needs a file: standard output has the backup');
      }
      if (path === undefined && process.stdout.isTTY) command.error('error: a terminal can show no backup');
      output.exitCode = await runBackup(path, force, output);
    });
  verifyCommand(backup, output);
}

async function runBackup(path: string | undefined, isForced: boolean, output: Output): Promise<number> {
  // Until it is complete: the reader of standard output may end early.
  output.exitCode = EXIT.refused;
  const { signal, release } = stopSignal();
  const target =
    path === undefined ? standardOutput(signal) : await newFile(path, { isForced, mode: PRIVATE });
  const startedAtMs = performance.now();
  let written: Written | null = null;
  try {
    const complete = await writeSnapshot(target, signal, output);
    await target.keep();
    written = complete;
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    release();
    if (!written) await target.discard();
  }
  summarize(path, written, (performance.now() - startedAtMs) / 1000, output);
  return written ? EXIT.ok : EXIT.refused;
}

interface Written {
  rows: Readonly<Record<string, number>>;
  /** Compressed. */
  bytes: number;
}

async function writeSnapshot(target: FileTarget, signal: AbortSignal, output: Output): Promise<Written> {
  const database = sharedDatabase();
  const [{ Snapshot }, { backupLines }, { DATABASE_SCHEMA }] = await Promise.all([
    import('../../backup/snapshot.js'),
    import('../../backup/backup-lines.js'),
    import('../../app/database-schema.js'),
  ]);
  const isBarShown = process.stderr.isTTY && !output.isJson;
  const bar = new ProgressBar(process.stderr, { rows: 0, done: 0 }, isBarShown);
  const snapshot = await Snapshot.open(database, DATABASE_SCHEMA);
  try {
    const total = isBarShown ? await snapshot.count() : null;
    let rows: Written['rows'] = {};
    const onRows = (counts: Written['rows']) => {
      rows = counts;
      const done = totalOf(counts);
      bar.update({ rows: done, done, total });
    };
    const made = { createdAtMs: Date.now(), version: version(), database: database.kind, onRows };
    const bytes = await write(backupLines(snapshot, made), target, signal);
    return { rows, bytes };
  } finally {
    bar.clear();
    await snapshot.close();
  }
}

function summarize(path: string | undefined, written: Written | null, seconds: number, output: Output): void {
  const { rows, bytes } = written ?? { rows: {}, bytes: 0 };
  const told = written
    ? `${grouped(totalOf(rows))} rows of ${Object.keys(rows).length} tables in ${seconds.toFixed(1)} s (${grouped(bytes)} bytes)`
    : 'Interrupted. No complete backup was written.';
  const json = {
    file: written ? path : null,
    complete: written !== null,
    rows,
    bytes,
    seconds: Number(seconds.toFixed(3)),
  };
  if (path === undefined) output.note(told);
  else output.result(json, told);
}

/** Returns the number of compressed bytes. */
async function write(lines: AsyncIterable<string>, target: FileTarget, signal: AbortSignal): Promise<number> {
  let bytes = 0;
  const gzip = createGzip({ level: LEVEL });
  await pipeline(
    lines,
    gzip,
    async (pieces: AsyncIterable<Buffer>) => {
      for await (const piece of pieces) {
        bytes += piece.length;
        await target.write(piece);
      }
    },
    { signal },
  );
  return bytes;
}
