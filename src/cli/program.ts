import type { Readable } from 'node:stream';
import { Command, CommanderError } from 'commander';
import type { Gateway } from '../app/gateway.js';
import { ConfigError } from '../ground/config/config.js';
import { AppError } from '../ground/kernel/errors.js';
import { version } from '../ground/kernel/package.js';
import { capitalized } from '../noun-words.js';
import { backupCommand, copyCommand } from './backup.command.js';
import { doctorCommand } from './doctor.command.js';
import { domainsCommands } from './domains.command.js';
import { exportCommand } from './files/export.command.js';
import { importCommand } from './files/import.command.js';
import { newCommand } from './folder/new.command.js';
import { devCommand, startCommand } from './folder/start.command.js';
import { keysCommands } from './keys.command.js';
import { migrateCommand } from './migrate.command.js';
import { NO_GATEWAY } from './nearest-gateway.js';
import { EXIT, type Output } from './output.js';
import { projectsCommands } from './projects.command.js';
import { databaseProblem } from './session.js';
import { typesCommand } from './types/types.command.js';

/**
 * Runs the command of `args`, the words after `petstore`, and returns its exit code. Without a gateway, or with one that
 * cannot be loaded, there are only the commands that need none.
 */
export async function runProgram(
  found: Gateway | ConfigError | null,
  args: readonly string[],
  output: Output,
  stdin: Readable = process.stdin,
): Promise<number> {
  let usageProblem = '';
  const gateway = found instanceof ConfigError ? null : found;
  const program = new Command('petstore')
    .description(
      `Manage ${gateway?.name ?? 'a gateway'}: projects, API keys, custom domains, imports and its database.`,
    )
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
    .showHelpAfterError('Add --help for the usage and examples.');
  if (gateway) gatewayCommands(program, gateway, output, stdin);
  else withoutGateway(program, found instanceof ConfigError ? found : new ConfigError(NO_GATEWAY));
  if (found) doctorCommand(program, found, output);
  newCommand(program, output);
  startCommand(program, output);
  devCommand(program, output);
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

function gatewayCommands(program: Command, gateway: Gateway, output: Output, stdin: Readable): void {
  const [first] = gateway.nouns;
  const { plural } = first.description;
  program.addHelpText(
    'after',
    `
Examples:
  $ petstore projects create shop --plan pro
  $ petstore keys create shop
  $ petstore ${plural} import shop ${plural}.csv
  $ petstore doctor

The database is the one DATABASE_URL names, by default the file ./var/petstore.sqlite.
Exit code: 0 done, 1 refused or failed, 2 wrong usage or configuration.`,
  );
  projectsCommands(program, gateway, output);
  keysCommands(program, gateway, output);
  for (const { description: noun } of gateway.nouns) {
    const group = program.command(noun.plural).description(`${capitalized(noun.plural)} of a project.`);
    importCommand(group, gateway, noun, output, stdin);
    exportCommand(group, gateway, noun, output);
  }
  domainsCommands(program, gateway, output);
  backupCommand(program, gateway, output);
  copyCommand(program, gateway, output);
  migrateCommand(program, gateway, output);
}

/** Any other words than those of `new` and `types` are answered by what is missing. */
function withoutGateway(program: Command, problem: ConfigError): void {
  program
    .argument('[words...]')
    .usage('[options] new <folder> | types <source>')
    .allowUnknownOption()
    .addHelpText('after', `\n${problem.message}`)
    .action(() => {
      throw problem;
    });
}
