import type { Command } from 'commander';
import type { Gateway } from '../app/gateway.js';
import { type Config, ConfigError, loadConfig } from '../ground/config/config.js';
import type { DatabaseSchema } from '../ground/database/data-source.js';
import type { CheckResult } from './doctor-checks.js';
import { EXIT, type Output } from './output.js';
import { schemaOf } from './session.js';

interface Checked extends CheckResult {
  name: string;
}

/** `gateway` is what its file is, or why it could not be loaded. */
export function doctorCommand(program: Command, gateway: Gateway | ConfigError, output: Output): void {
  program
    .command('doctor')
    .description('Check whether the gateway can run here, and say what to correct. Changes nothing.')
    .addHelpText(
      'after',
      `
Exit code: 0 no problem, 1 a check found a problem, 2 a setting is invalid; then no other check runs.

Examples:
  $ petstore doctor
  $ petstore doctor --json | jq .checks`,
    )
    .action(async () => {
      let checks: Checked[];
      try {
        checks = await check(
          gateway,
          loadConfig(process.env, gateway instanceof ConfigError ? undefined : gateway.slug),
        );
        if (!checks.every(({ ok }) => ok)) output.exitCode = EXIT.refused;
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        const wrong = { name: 'configuration', ok: false, remedy: 'Correct the environment variable.' };
        checks = error.problems.map((found) => ({ ...wrong, found }));
        output.exitCode = EXIT.usage;
      }
      output.result({ ok: output.exitCode === EXIT.ok, checks }, checks.map(line).join('\n'));
    });
}

async function check(gateway: Gateway | ConfigError, config: Config): Promise<Checked[]> {
  // Imported here: the checks load every driver, which no other command should wait for.
  const checks = await import('./doctor-checks.js');
  const network = await import('./doctor-network-checks.js');
  const schema = await loadedSchema(gateway);
  // In reading order: a later check can fail because of an earlier one.
  const all: Record<string, (config: Config) => Promise<CheckResult | null>> = {
    // Invalid settings were reported before.
    configuration: async ({ database, port }) =>
      checks.ok(`${database.kind === 'sqlite' ? 'sqlite file' : 'database server'}, port ${port}`),
    ports: network.checkPorts,
    disk: checks.checkDisk,
    database: checks.checkDatabase,
    replica: checks.checkReplica,
    gateway: async () =>
      schema instanceof Error
        ? checks.problem(schema.message, 'Correct the file.')
        : checks.ok('its definitions and migrations are loaded'),
    definitions: async () => (schema instanceof Error ? null : checks.checkDefinitions(schema)),
    migrations: async () => (schema instanceof Error ? null : checks.checkMigrations(config, schema)),
    redis: checks.checkRedis,
    tracing: checks.checkTracing,
    clock: checks.checkClock,
    dns: network.checkDns,
    'certificate authority': network.checkAuthority,
  };
  const done: Checked[] = [];
  for (const [name, run] of Object.entries(all)) {
    const finding = await run(config).catch(({ message }) =>
      checks.problem(`the check itself failed: ${message}`, 'Report this as a bug.'),
    );
    if (finding) done.push({ name, ...finding });
  }
  return done;
}

async function loadedSchema(gateway: Gateway | ConfigError): Promise<DatabaseSchema | Error> {
  if (gateway instanceof ConfigError) return gateway;
  return schemaOf(gateway).catch((error: Error) => error);
}

function line({ name, ok, found, remedy }: Checked): string {
  const said = `${ok ? 'ok      ' : 'PROBLEM '} ${name}: ${found}`;
  return remedy ? `${said}\n         → ${remedy}` : said;
}
