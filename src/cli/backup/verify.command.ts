import { statSync } from 'node:fs';
import type { Command } from 'commander';
import { type BackupContent, totalOf } from '../../backup/backup-format.js';
import { verifyBackup } from '../../backup/read-backup.js';
import { ProgressBar } from '../long-runs/progress-bar.js';
import { stopSignal } from '../long-runs/stop-signal.js';
import { EXIT, grouped, type Output, table } from '../output.js';

export function verifyCommand(backup: Command, output: Output): void {
  backup
    .command('verify <file>')
    .description('Read a whole backup, check it, and say what it has. Needs no database.')
    .addHelpText(
      'after',
      `
Checks the checksum, the number of rows of each table, and the form of each row.
Exit code: 0 complete and undamaged, 1 not.

Example:
  $ petstore backup verify petstore.backup.gz --json | jq .createdAt`,
    )
    .action(async (path: string) => {
      const content = await verified(path, output);
      if (!content) {
        output.fail('conflict', 'Interrupted.');
        output.exitCode = EXIT.refused;
        return;
      }
      const { header, rows } = content;
      const { createdAt, version, schema, database } = header;
      const lines = [
        `${path} is complete and undamaged: ${grouped(totalOf(rows))} rows.`,
        `Written at ${createdAt} from ${database} by release ${version}, schema ${schema}.`,
        table(Object.entries(rows).map(([name, count]) => ({ table: name, rows: grouped(count) }))),
      ];
      output.result({ file: path, createdAt, version, schema, database, rows }, lines.join('\n'));
    });
}

/** Reads the whole file with a progress bar; null = interrupted. Throws `AppError` when the file is no good. */
export async function verified(path: string, output: Output): Promise<BackupContent | null> {
  const bar = new ProgressBar(process.stderr, { rows: 0, done: 0 }, process.stderr.isTTY && !output.isJson);
  const { signal, release } = stopSignal();
  const total = statSync(path, { throwIfNoEntry: false })?.size ?? null;
  try {
    return await verifyBackup(path, {
      signal,
      onProgress: (rows, done) => bar.update({ rows, done, total }),
    });
  } catch (error) {
    if (signal.aborted) return null;
    throw error;
  } finally {
    release();
    bar.clear();
  }
}
