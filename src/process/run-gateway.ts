import 'reflect-metadata';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { isLocalDemo } from '../app/addresses.js';
import { seedDemo } from '../app/demo.js';
import { type Gateway, type LoadedGateway, loadGateway } from '../app/gateway.js';
import { type Config, ConfigError, loadConfig } from '../ground/config/config.js';
import { askServer, textOf } from '../ground/database/cluster/server-facts.js';
import { version } from '../ground/kernel/package.js';
import { LogLines } from '../ground/log/log-lines.js';
import { createLogger } from '../ground/log/logger.js';
import { greeting, helpOf } from './greeting.js';
import { type Serving, serve } from './serve.js';
import { startProblem } from './start-problem.js';

const USAGE = 2;
const DATABASE_GOODBYE_MS = 200;
/** Part of `SHUTDOWN_SECONDS` reserved for the last wait of `Drain`, closing the database, and the reader of the log. */
const END_MS = 1_200;
/** With bash as its shell npm repeats a Ctrl-C that the terminal has already sent: two signals, 20 ms apart. */
const ONE_PRESS_MS = 200;

/**
 * Runs the gateway as this process: with its settings from the environment, until a signal ends it. Exits if there are
 * arguments, if a setting is invalid, or if it cannot start.
 */
export async function runGateway(named: Gateway, args = process.argv.slice(2)): Promise<void> {
  // Otherwise V8 soon places the listeners of each response in its old generation, with all of the request. D-217.
  setFlagsFromString('--no-allocation-site-pretenuring');
  // Printing the greeting fails on a full disk or without a reader; the gateway serves anyway.
  process.stdout.on('error', () => {});
  readArguments(args, helpOf(named));
  const config = readConfig(named);
  try {
    endOnSignals(await start(await loadGateway(named), config), config.shutdownSeconds);
  } catch (error) {
    console.error(startProblem(error, config));
    process.exit(error instanceof ConfigError ? USAGE : 1);
  }
}

/** Exits if there are arguments. To ignore an unknown argument would start something that nobody requested. */
function readArguments([first]: readonly string[], help: string): void {
  if (first === undefined) return;
  if (first === '--help' || first === '--version') {
    console.log(first === '--help' ? help : version());
    process.exit(0);
  }
  console.error(`Unknown argument ${JSON.stringify(first)}. ${help}`);
  process.exit(USAGE);
}

function readConfig({ slug }: Gateway): Config {
  try {
    return loadConfig(process.env, slug);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    console.error(error.message);
    process.exit(USAGE);
  }
}

async function start(gateway: LoadedGateway, config: Config): Promise<Serving> {
  const format = config.logFormat ?? (process.stdout.isTTY ? 'text' : 'json');
  const logLines = new LogLines();
  const logger = createLogger({ level: config.logLevel, format }, logLines);
  const serving = await serve(gateway, config, { logger, logLines });
  const { app, db, addresses } = serving;
  const database = await askServer(config.database, (sql) => db.execute(sql, [])).then(
    textOf,
    () => 'gives no answer now',
  );
  // After `listen`: the key is shown only once, and a port in use must not lose it.
  const demoKey = config.demo ? await seedDemo(gateway, app.services) : null;
  if (demoKey && isLocalDemo(config)) app.pages.demoKey = demoKey;
  console.log(greeting(gateway, addresses, { demoKey, isDemo: config.demo, database }));
  return serving;
}

/** Shuts down once: on SIGTERM with time for load balancers to notice, on Ctrl-C promptly. A second signal ends at once. */
function endOnSignals({ app, db }: Serving, shutdownSeconds: number): void {
  const { log } = app.http;
  let endingSinceMs: number | null = null;
  const end = async (reason: string, exitCode: number, lameDuckMs: number) => {
    const nowMs = performance.now();
    if (endingSinceMs !== null) {
      if (reason === 'SIGINT' && nowMs - endingSinceMs < ONE_PRESS_MS) return;
      log.warn({ reason: `second ${reason}`, ...app.drain.connections.inUse }, 'stopped at once');
      process.exit(exitCode || 1);
    }
    endingSinceMs = nowMs;
    const ended = await app.drain.run({ reason, lameDuckMs, withinMs: shutdownSeconds * 1000 - END_MS });
    // After the server, which stores its counters last. A database that does not respond must not delay the exit.
    await Promise.race([db.close().catch(() => {}), sleep(DATABASE_GOODBYE_MS)]);
    const seconds = Math.round((performance.now() - nowMs) / 100) / 10;
    log.info({ ...ended, completedSinceStart: app.drain.ended.completed, seconds }, 'stopped');
    process.exit(exitCode);
  };
  const fail = (error: unknown) => {
    log.fatal({ err: error }, 'unexpected fault, shutting down');
    void end('unexpected fault', 1, 0);
  };
  process.on('SIGTERM', () => void end('SIGTERM', 0, (shutdownSeconds * 1000) / 4));
  process.on('SIGINT', () => void end('SIGINT', 0, 0));
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
}
