import { statSync } from 'node:fs';
import type { Command } from 'commander';
import type { Gateway } from '../app/gateway.js';
import { type DatabaseTarget, databaseTarget } from '../ground/config/config.js';
import { AppError } from '../ground/kernel/errors.js';
import { writeNewFile } from './file-target.js';
import { LongRun } from './long-run.js';
import { EXIT, grouped, type Output } from './output.js';
import { schemaOf, sharedDatabase, storedDatabase } from './session.js';

/** The file has digests of keys and sealed private keys: only its owner may read it. */
const PRIVATE = 0o600;

export function backupCommand(program: Command, gateway: Gateway, output: Output): void {
  const backup = program
    .command('backup')
    .argument('<file>', 'where the backup is written')
    .description(
      'Write a copy of the SQLite database while the gateway serves. For MySQL, print the line that does.',
    )
    .option('--force', 'replace an existing file')
    .addHelpText(
      'after',
      `
The file is a SQLite database as it was at one moment. It appears when it is complete, with the permissions 0600. To
restore it, stop the gateway, move the old file with its -wal and -shm away, and put the backup in its place.
It has digests of API keys, and private keys as SECRET_KEY sealed them: keep SECRET_KEY elsewhere, because without it
those certificates can't be used.
For MySQL and MariaDB the command asks the server what it is, prints the line that makes the backup, and makes none: the
exit code is 1.
Exit code: 0 complete, 1 refused or interrupted, 2 wrong usage.

Examples:
  $ petstore backup petstore-backup.sqlite
  $ petstore backup verify petstore-backup.sqlite`,
    )
    .action(async (path: string, { force = false }: { force?: boolean }, command: Command) => {
      if (path === '-') command.error('error: standard output can have no database: name a file');
      const database = sharedDatabase();
      if (database.kind === 'sqlite') await writeBackup(database.path, path, force, output);
      else {
        const { askDumpLine } = await import('../ground/backup/backup.js');
        const line = await askDumpLine(database, path);
        output.note('This database makes its own backups. Run this line:');
        output.result({ file: null, complete: false, run: line }, line);
        output.exitCode = EXIT.refused;
      }
    });
  verifyCommand(backup, gateway, output);
  program
    .command('restore', { hidden: true })
    .allowUnknownOption()
    .allowExcessArguments()
    .action((_, command) => {
      command.error(
        'error: a backup is a database file, which needs no restore. See: petstore backup --help',
      );
    });
}

async function writeBackup(database: string, path: string, isForced: boolean, output: Output): Promise<void> {
  const { backupSqlite } = await import('../ground/backup/backup.js');
  let isWritten = false;
  const run = new LongRun(false);
  run.signal.addEventListener('abort', () => {
    if (isWritten) return;
    output.fail('conflict', 'Interrupted. No backup was written.');
    // libsql can't interrupt a statement, so the process would wait for it.
    process.exit(EXIT.refused);
  });
  await writeNewFile({ path, isForced, mode: PRIVATE }, async (_, partial) => {
    await backupSqlite(database, partial);
    isWritten = true;
  }).finally(() => run.end());
  const { seconds } = run;
  const bytes = statSync(path).size;
  output.result(
    { file: path, complete: true, bytes, seconds },
    `${grouped(bytes)} bytes in ${seconds.toFixed(1)} s`,
  );
}

function verifyCommand(backup: Command, gateway: Gateway, output: Output): void {
  backup
    .command('verify <file>')
    .description('Check a SQLite backup and say which schema it has.')
    .addHelpText(
      'after',
      `
Runs SQLite's integrity_check, and compares the migrations of the file with those of this release.
Exit code: 0 complete and undamaged, 1 not.

Example:
  $ petstore backup verify petstore-backup.sqlite --json | jq .schema`,
    )
    .action(async (path: string) => {
      const { verifySqlite } = await import('../ground/backup/backup.js');
      const schema = await verifySqlite(path, await schemaOf(gateway));
      output.result({ file: path, schema }, `${path} is complete and undamaged. Its schema is ${schema}.`);
    });
}

interface CopyOptions {
  from: string;
  into: string;
  force?: boolean;
}

export function copyCommand(program: Command, gateway: Gateway, output: Output): void {
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
      const target = (name: string, url: string) => storedDatabase(name, databaseTarget(name, url));
      await runCopy(
        gateway,
        { from: target('--from', from), into: target('--into', into), isForced: force },
        output,
      );
    });
}

async function runCopy(
  gateway: Gateway,
  { from, into, isForced }: { from: DatabaseTarget; into: DatabaseTarget; isForced: boolean },
  output: Output,
): Promise<void> {
  const { copyDatabase, shownUrl, sumOf } = await import('../ground/backup/copy.js');
  const place = shownUrl(into);
  const run = new LongRun(output.showsProgress);
  const rows = await copyDatabase(await schemaOf(gateway), {
    from,
    into,
    isForced,
    startedAt: new Date().toISOString(),
    signal: run.signal,
    onProgress: (done, total) => run.update(done, done, total),
  })
    .catch((error) => {
      if (!run.signal.aborted) throw error;
      throw new AppError(
        'conflict',
        `Interrupted. ${place} has a part of the rows. Use --force to begin again.`,
      );
    })
    .finally(() => run.end());
  const { seconds } = run;
  output.result(
    { from: shownUrl(from), into: place, rows, seconds },
    `${grouped(sumOf(rows))} rows of ${Object.keys(rows).length} tables are copied into ${place} in ${seconds.toFixed(1)} s.`,
  );
}
