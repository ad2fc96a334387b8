import type { Command } from 'commander';
import { type Config, ConfigError, loadConfig } from '../ground/config/config.js';
import {
  type CheckResult,
  checkClock,
  checkDatabase,
  checkDisk,
  checkMigrations,
  checkRedis,
  checkTracing,
  ok,
  problem,
} from './doctor-checks.js';
import { checkAuthority, checkDns, checkPlatformHost, checkPorts } from './doctor-network-checks.js';
import { EXIT, type Output } from './output.js';

/** In reading order: a later check can fail because of an earlier one. Null = it does not apply to this configuration. */
const CHECKS: Record<string, (config: Config) => Promise<CheckResult | null>> = {
  // Invalid settings are reported before the checks run.
  configuration: async ({ database, port }) => ok(`${database.kind} database, port ${port}`),
  ports: checkPorts,
  disk: checkDisk,
  database: checkDatabase,
  migrations: checkMigrations,
  redis: checkRedis,
  tracing: checkTracing,
  clock: checkClock,
  dns: checkDns,
  'platform host': checkPlatformHost,
  'certificate authority': checkAuthority,
};

interface Checked extends CheckResult {
  name: string;
}

export function doctorCommand(program: Command, output: Output): void {
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
      const settings = readSettings();
      const checks = Array.isArray(settings) ? settings : await check(settings);
      const ok = checks.every((check) => check.ok);
      output.result({ ok, checks }, checks.map(line).join('\n'));
      if (!ok) output.exitCode = checks === settings ? EXIT.usage : EXIT.refused;
    });
}

/** The settings, or all their problems. */
function readSettings(): Config | Checked[] {
  try {
    return loadConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const remedy = 'Correct the environment variable.';
    return error.problems.map((found) => ({ name: 'configuration', ...problem(found, remedy) }));
  }
}

async function check(config: Config): Promise<Checked[]> {
  const checks: Checked[] = [];
  for (const [name, run] of Object.entries(CHECKS)) {
    const finding = await run(config).catch(({ message }) =>
      problem(`the check itself failed: ${message}`, 'Report this as a bug.'),
    );
    if (finding) checks.push({ name, ...finding });
  }
  return checks;
}

function line({ name, ok, found, remedy }: Checked): string {
  const said = `${ok ? 'ok      ' : 'PROBLEM '} ${name}: ${found}`;
  return remedy ? `${said}\n         → ${remedy}` : said;
}
