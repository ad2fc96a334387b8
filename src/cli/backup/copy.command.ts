import type { Command } from 'commander';
import { ConfigError, type DatabaseTarget, databaseTarget, isInMemory } from '../../config/config.js';
import { AppError } from '../../kernel/errors.js';
import { ProgressBar } from '../long-runs/progress-bar.js';
import { stopSignal } from '../long-runs/stop-signal.js';
import { grouped, type Output } from '../output.js';

interface CopyOptions {
  from: string;
  into: string;
  force?: boolean;
}

export function copyCommand(program: Command, output: Output): void {
  program
    .command('copy')
    .description('Copy all data from one database into another: from SQLite into MySQL or MariaDB, or back.')
    .requiredOption('--from <url>', 'the database to read, in the form of DATABASE_URL')
    .requiredOption('--into <url>', 'the database to fill, in the same form')
    .option('--force', 'delete all rows of the filled database first; stop every gateway on it before')
    .addHelpText(
      'after',
      `
Reads the source as it was at one moment, and compares the number of rows of each table at the end. Refuses a filled
database with rows, and a source without the newest migrations. While it runs, no gateway starts on the filled database.
After an interruption use --force to begin again.
Stop the gateway on the source before: later writes are not copied. Private keys of certificates stay sealed, so the
gateway needs the same SECRET_KEY as before. Quotas and bans in Redis are not copied.
Exit code: 0 copied, 1 refused or interrupted, 2 wrong usage.

Example:
  $ petstore copy --from sqlite:./var/petstore.sqlite --into mysql://user:password@host:3306/petstore`,
    )
    .action(async ({ from, into, force = false }: CopyOptions) => {
      await runCopy(storedDatabase('--from', from), storedDatabase('--into', into), force, output);
    });
}

function storedDatabase(option: string, url: string): DatabaseTarget {
  const target = databaseTarget(option, url);
  if (!isInMemory(target)) return target;
  throw new ConfigError(`${option} names a database in memory, which would end with this command.`);
}

async function runCopy(
  from: DatabaseTarget,
  into: DatabaseTarget,
  isForced: boolean,
  output: Output,
): Promise<void> {
  const [{ copyDatabase, shownUrl, sumOf }, { DATABASE_SCHEMA }] = await Promise.all([
    import('../../backup/copy.js'),
    import('../../app/database-schema.js'),
  ]);
  const startedAtMs = performance.now();
  const place = shownUrl(into);
  const bar = new ProgressBar(process.stderr, { rows: 0, done: 0 }, process.stderr.isTTY && !output.isJson);
  const { signal, release } = stopSignal();
  const rows = await copyDatabase(DATABASE_SCHEMA, {
    from,
    into,
    isForced,
    startedAt: new Date().toISOString(),
    signal,
    onProgress: (done, total) => bar.update({ rows: done, done, total }),
  })
    .catch((error) => {
      if (!signal.aborted) throw error;
      throw new AppError(
        'conflict',
        `Interrupted. ${place} has a part of the rows. Use --force to begin again.`,
      );
    })
    .finally(() => {
      release();
      bar.clear();
    });
  const seconds = Number(((performance.now() - startedAtMs) / 1000).toFixed(3));
  output.result(
    { from: shownUrl(from), into: place, rows, seconds },
    `${grouped(sumOf(rows))} rows of ${Object.keys(rows).length} tables are copied into ${place} in ${seconds.toFixed(1)} s.`,
  );
}
