import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Command, InvalidArgumentError } from 'commander';
import type { Gateway } from '../app/gateway.js';
import { ConfigError, databaseTarget } from '../ground/config/config.js';
import type { DatabaseSchema } from '../ground/database/data-source.js';
import type { Rename } from '../ground/migrations/files/compare.js';
import { inSnakeCase } from '../noun/definition/model.js';
import { gatewayFile } from './nearest-gateway.js';
import type { Output } from './output.js';
import { schemaOf, sharedDatabase, storedDatabase } from './session.js';

interface MigrateOptions {
  revert?: boolean;
  plan?: boolean;
  copy?: string;
  write?: boolean;
  allowLoss?: boolean;
  rename?: Rename[];
}

/** Of migrations that the gateway lists, and reads from no folder. */
const USUAL_FOLDER = 'migrations';

export function migrateCommand(program: Command, gateway: Gateway, output: Output): void {
  program
    .command('migrate')
    .description('Update the database schema to the state that this version needs.')
    .option('--plan', 'print what would run and what waits for it, and run nothing')
    .option('--copy <url>', 'with --plan: run it on this copy of the database, to tell how long it takes')
    .option('--revert', 'undo the newest migration instead, which deletes its data')
    .option('--write', 'write the migrations that your definitions need into their folder, and run nothing')
    .option('--allow-loss', 'with --write: also what deletes values')
    .option('--rename <table.field=name>', 'with --write: a field has a new name; can be repeated', renames)
    .addHelpText(
      'after',
      `
--write compares the definitions of your resources with your migrations. Read what it writes before you run it.
A copy is a backup of the database, as a file or loaded into another database: the same migrations are pending.

Examples:
  $ petstore migrate --plan
  $ petstore migrate --plan --copy mysql://user:password@host:3306/copy
  $ petstore migrate
  $ petstore migrate --write
  $ petstore migrate --write --rename books.title=name
  $ petstore migrate --revert`,
    )
    .action(async (options: MigrateOptions, command: Command) => {
      const { revert = false, plan = false, copy, write = false, allowLoss = false, rename } = options;
      if ([plan, revert, write].filter(Boolean).length > 1) {
        command.error('error: only one of --plan, --revert and --write can be used');
      }
      if (copy !== undefined && !plan) command.error('error: --copy needs --plan');
      if (allowLoss && !write) command.error('error: --allow-loss needs --write');
      if (rename && !write) command.error('error: --rename needs --write');
      const schema = await schemaOf(gateway);
      if (write) await writeFiles(gateway, schema, options, output);
      else if (plan) await printPlan(schema, copy, output);
      else await change(schema, revert, output);
    });
}

async function change(schema: DatabaseSchema, revert: boolean, output: Output): Promise<void> {
  const database = sharedDatabase();
  const { migrate, revertLastMigration } = await import('../ground/migrating/migrate.js');
  if (revert) {
    const reverted = await revertLastMigration(database, schema);
    const text = reverted ? 'The newest migration is undone.' : 'There is no migration to undo.';
    output.result({ reverted }, text);
    return;
  }
  const applied = await migrate(database, schema, { onWait: (sentence) => output.note(sentence) });
  const text = applied.length > 0 ? `Applied ${applied.join(', ')}.` : 'The database is up to date.';
  output.result({ applied }, text);
}

async function printPlan(schema: DatabaseSchema, copy: string | undefined, output: Output): Promise<void> {
  const database = sharedDatabase();
  const target = copy === undefined ? null : storedDatabase('--copy', databaseTarget('--copy', copy));
  const plan = await import('../ground/migrating/migration-plan.js');
  if (target && (await plan.isSameDatabase(target, database))) {
    throw new ConfigError('--copy must name another database than DATABASE_URL.');
  }
  const migrations = await plan.pendingMigrations(database, schema);
  const seconds = target && (await plan.timeOnCopy(migrations, target, schema));
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

async function writeFiles(
  { migrations }: Gateway,
  schema: DatabaseSchema,
  { allowLoss: allowsLoss = false, rename = [] }: MigrateOptions,
  output: Output,
): Promise<void> {
  const { writeMigrations } = await import('../ground/migrations/files/write.js');
  const folder = migrations instanceof URL ? relative('', fileURLToPath(migrations)) : USUAL_FOLDER;
  const isTypeScript = gatewayFile('')?.endsWith('.ts') === true;
  const options = { folder, isTypeScript, allowsLoss, renames: rename, atMs: Date.now() };
  const written = await writeMigrations(schema, options);
  const told = written.flatMap(({ file, losses }) => [
    `Wrote ${file}.`,
    ...losses.map((loss) => `  ${loss}`),
  ]);
  const next = 'Read it, then run `petstore migrate`.';
  const text =
    told.length > 0 ? [...told, next].join('\n') : 'The migrations make what the definitions need.';
  output.result({ written }, text);
}

/** Adds a value of `--rename`. Throws `InvalidArgumentError`. */
function renames(value: string, before: Rename[] = []): Rename[] {
  const [, table, from, to] = /^(\w+)\.(\w+)=(\w+)$/.exec(value)?.map(inSnakeCase) ?? [];
  if (!table || !from || !to) throw new InvalidArgumentError('Write it as books.title=name.');
  return [...before, { table, from, to }];
}
