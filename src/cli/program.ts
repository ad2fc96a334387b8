import type { Readable } from 'node:stream';
import { Command, CommanderError } from 'commander';
import { ConfigError } from '../ground/config/config.js';
import { AppError } from '../ground/kernel/errors.js';
import { version } from '../ground/kernel/package.js';
import { capitalized, FIRST_NOUN, NOUNS } from '../nouns.js';
import { backupCommand, copyCommand } from './backup.command.js';
import { doctorCommand } from './doctor.command.js';
import { domainsCommands } from './domains.command.js';
import { exportCommand } from './files/export.command.js';
import { importCommand } from './files/import.command.js';
import { keysCommands } from './keys.command.js';
import { migrateCommand } from './migrate.command.js';
import { EXIT, type Output } from './output.js';
import { projectsCommands } from './projects.command.js';
import { databaseProblem } from './session.js';
import { typesCommand } from './types/types.command.js';

/** Runs the command of `args`, the words after `petstore`, and returns its exit code. */
export async function runProgram(
  args: readonly string[],
  output: Output,
  stdin: Readable = process.stdin,
): Promise<number> {
  let usageProblem = '';
  const program = new Command('petstore')
    .description('Manage a Petstore Gateway: projects, API keys, custom domains, imports and its database.')
    .version(
      output.isJson ? JSON.stringify({ version: version() }) : version(),
      '--version',
      'print the version',
    )
    .option('--json', 'print exactly one JSON object on standard output, for errors too')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => output.write(text),
      writeErr: (text) => {
        usageProblem += text;
      },
    })
    .exitOverride()
    .showHelpAfterError('Add --help for the usage and examples.')
    .addHelpText(
      'after',
      `
Examples:
  $ petstore projects create shop --plan pro
  $ petstore keys create shop
  $ petstore ${FIRST_NOUN.plural} import shop ${FIRST_NOUN.plural}.csv
  $ petstore doctor

The database is the one DATABASE_URL names, by default the file ./var/petstore.sqlite.
Exit code: 0 done, 1 refused or failed, 2 wrong usage or configuration.`,
    );
  projectsCommands(program, output);
  keysCommands(program, output);
  for (const noun of NOUNS) {
    const group = program.command(noun.plural).description(`${capitalized(noun.plural)} of a project.`);
    importCommand(group, noun, output, stdin);
    exportCommand(group, noun, output);
  }
  domainsCommands(program, output);
  backupCommand(program, output);
  copyCommand(program, output);
  migrateCommand(program, output);
  doctorCommand(program, output);
  typesCommand(program, output);
  try {
    await program.parseAsync(args, { from: 'user' });
    return output.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return EXIT.ok;
      // For a command without its subcommand it is the help text.
      const text = usageProblem.startsWith('Usage: ')
        ? `A subcommand is missing. ${usageProblem}`
        : usageProblem.replace(/^error: /, '');
      output.fail('usage', output.isJson ? String(text.split('\n')[0]) : text.trim());
      return EXIT.usage;
    }
    if (error instanceof ConfigError) {
      output.fail('invalid_configuration', error.message);
      return EXIT.usage;
    }
    if (error instanceof AppError) output.fail(error.code, error.message, error.errors);
    else output.fail(...databaseProblem(error));
    return EXIT.refused;
  }
}
