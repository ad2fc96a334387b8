import type { Command } from 'commander';
import type { Output } from './output.js';
import { sharedDatabase } from './session.js';

export function migrateCommand(program: Command, output: Output): void {
  program
    .command('migrate')
    .description('Update the database schema to the state that this version needs.')
    .option('--revert', 'undo the newest migration instead, which deletes its data')
    .addHelpText('after', '\nExamples:\n  $ petstore migrate\n  $ petstore migrate --revert')
    .action(async ({ revert = false }: { revert?: boolean }) => {
      const database = sharedDatabase();
      const { DATABASE_SCHEMA } = await import('../app/database-schema.js');
      const { migrate, revertLastMigration } = await import('../database/migrate.js');
      if (revert) {
        const reverted = await revertLastMigration(database, DATABASE_SCHEMA);
        const text = reverted ? 'The newest migration is undone.' : 'There is no migration to undo.';
        output.result({ reverted }, text);
        return;
      }
      const applied = await migrate(database, DATABASE_SCHEMA);
      const text = applied.length > 0 ? `Applied ${applied.join(', ')}.` : 'The database is up to date.';
      output.result({ applied }, text);
    });
}
