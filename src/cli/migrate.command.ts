import type { Command } from 'commander';
import { ConfigError, type DatabaseTarget, databaseTarget } from '../ground/config/config.js';
import type { Output } from './output.js';
import { sharedDatabase, storedDatabase } from './session.js';

interface MigrateOptions {
  revert?: boolean;
  plan?: boolean;
  copy?: string;
}

export function migrateCommand(program: Command, output: Output): void {
  program
    .command('migrate')
    .description('Update the database schema to the state that this version needs.')
    .option('--plan', 'print what would run and what waits for it, and run nothing')
    .option('--copy <url>', 'with --plan: run it on this copy of the database, to tell how long it takes')
    .option('--revert', 'undo the newest migration instead, which deletes its data')
    .addHelpText(
      'after',
      `
A copy is a backup of the database, as a file or loaded into another database: the same migrations are pending.

Examples:
  $ petstore migrate --plan
  $ petstore migrate --plan --copy mysql://user:password@host:3306/copy
  $ petstore migrate
  $ petstore migrate --revert`,
    )
    .action(async ({ revert = false, plan = false, copy }: MigrateOptions, command: Command) => {
      if (plan && revert) command.error('error: only one of --plan and --revert can be used');
      if (copy !== undefined && !plan) command.error('error: --copy needs --plan');
      if (plan) await printPlan(sharedDatabase(), copy, output);
      else await change(revert, output);
    });
}

async function change(revert: boolean, output: Output): Promise<void> {
  const database = sharedDatabase();
  const { DATABASE_SCHEMA } = await import('../app/database-schema.js');
  const { migrate, revertLastMigration } = await import('../ground/database/migrate.js');
  if (revert) {
    const reverted = await revertLastMigration(database, DATABASE_SCHEMA);
    const text = reverted ? 'The newest migration is undone.' : 'There is no migration to undo.';
    output.result({ reverted }, text);
    return;
  }
  const applied = await migrate(database, DATABASE_SCHEMA);
  const text = applied.length > 0 ? `Applied ${applied.join(', ')}.` : 'The database is up to date.';
  output.result({ applied }, text);
}

async function printPlan(database: DatabaseTarget, copy: string | undefined, output: Output): Promise<void> {
  const target = copy === undefined ? null : storedDatabase('--copy', databaseTarget('--copy', copy));
  const plan = await import('../ground/database/migration-plan.js');
  const { DATABASE_SCHEMA } = await import('../app/database-schema.js');
  if (target && (await plan.isSameDatabase(target, database))) {
    throw new ConfigError('--copy must name another database than DATABASE_URL.');
  }
  const migrations = await plan.pendingMigrations(database, DATABASE_SCHEMA);
  const seconds = target && (await plan.timeOnCopy(migrations, target, DATABASE_SCHEMA));
  const pending = migrations.map(({ name, locks }) => ({
    name,
    locks,
    seconds: seconds ? Number(seconds.get(name)?.toFixed(3)) : null,
  }));
  const told = pending.map(({ name, locks, seconds: took }) =>
    [
      name,
      `  Locks: ${locks ?? 'nothing waits noticeably.'}`,
      `  Time on a copy: ${took === null ? 'not measured; see --copy.' : `${took.toFixed(1)} s`}`,
    ].join('\n'),
  );
  const count = pending.length === 1 ? '1 migration is' : `${pending.length} migrations are`;
  const start = pending.length === 0 ? 'The database is up to date.' : `${count} pending. None was run.`;
  output.result({ pending }, [start, ...told].join('\n'));
}
