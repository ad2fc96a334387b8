import { DATABASE_SCHEMA } from './app/database-schema.js';
import { FIRST_NOUN } from './nouns.js';
import 'reflect-metadata';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { type Addresses, isLocalDemo } from './app/addresses.js';
import { type App, createApp } from './app/app.js';
import { seedDemo } from './app/demo.js';
import { startProblem } from './app/start-problem.js';
import { type Config, ConfigError, loadConfig } from './ground/config/config.js';
import { Database } from './ground/database/database.js';
import { migrate } from './ground/database/migrate.js';
import { SCOPES } from './ground/kernel/caller.js';
import { version } from './ground/kernel/package.js';
import { LogLines } from './ground/log/log-lines.js';
import { createLogger } from './ground/log/logger.js';

const USAGE = 2;
const DATABASE_GOODBYE_MS = 200;
/** Part of `SHUTDOWN_SECONDS` reserved for the last wait of `Drain`, closing the database, and the reader of the log. */
const END_MS = 1_200;
/** With bash as its shell npm repeats a Ctrl-C that the terminal has already sent: two signals, 20 ms apart. D-259. */
const ONE_PRESS_MS = 200;

const HELP = `Petstore Gateway. It takes no arguments: settings are environment variables, listed in docs/settings.md.
Without any setting it serves http://127.0.0.1:4000 from the file ./var/petstore.sqlite.
  --help, --version   print this help or the version
Projects and API keys: npx petstore --help`;

/** Exits if there are arguments. To ignore an unknown argument would start something that nobody requested. */
function readArguments([first]: readonly string[]): void {
  if (first === undefined) return;
  if (first === '--help' || first === '--version') {
    console.log(first === '--help' ? HELP : version());
    process.exit(0);
  }
  console.error(`Unknown argument ${JSON.stringify(first)}. ${HELP}`);
  process.exit(USAGE);
}

function readConfig(): Config {
  try {
    return loadConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    console.error(error.message);
    process.exit(USAGE);
  }
}

async function start(config: Config): Promise<{ app: App; db: Database }> {
  await migrate(config.database, DATABASE_SCHEMA);
  const db = await Database.open(config.database, DATABASE_SCHEMA, { poolSize: config.databasePoolSize });
  db.markInUse();
  const format = config.logFormat ?? (process.stdout.isTTY ? 'text' : 'json');
  const logLines = new LogLines();
  const logger = createLogger({ level: config.logLevel, format }, logLines);
  const app = await createApp({ config, db, logger, logLines, now: Date.now });
  const addresses = await app.listen();
  // After `listen`: the key is shown only once, and a port in use must not lose it.
  const demoKey = config.demo ? await seedDemo(app.services) : null;
  if (demoKey && isLocalDemo(config)) app.pages.demoKey = demoKey;
  console.log(greeting(addresses, demoKey, config.demo));
  return { app, db };
}

function greeting({ base }: Addresses, demoKey: string | null, isDemo: boolean): string {
  const key = demoKey ?? '<API_KEY>';
  const { plural, fields } = FIRST_NOUN;
  const shown = fields.filter(({ kind }) => kind === 'text' || kind === 'choice').map(({ name }) => name);
  const query = `{"query":"{ ${plural}(first: 3) { nodes { id ${shown.join(' ')} } } project { slug plan } }"}`;
  return [
    '',
    `Petstore Gateway listens on ${base}   (open it in a browser for all pages)`,
    `  GraphQL   ${base}/graphql   (open it in a browser for Apollo Sandbox)`,
    `  REST      ${base}/v1/${plural}   (described by ${base}/v1/openapi.json)`,
    `  Dashboard ${base}/dashboard   (sign in with an API key)`,
    '',
    demoKey
      ? `Demo key, shown only once: ${demoKey}`
      : `To create a key: npx petstore keys create ${isDemo ? 'demo' : '<project>'} --scopes ${SCOPES.join(',')}`,
    '',
    `curl -s '${base}/graphql' -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '${query}'`,
    `curl -s '${base}/v1/${plural}?limit=3' -H 'Authorization: Bearer ${key}'`,
    '',
  ].join('\n');
}

/** Shuts down once: on SIGTERM with time for load balancers to notice, on Ctrl-C promptly. A second signal ends at once. */
function endOnSignals({ app, db }: { app: App; db: Database }, shutdownSeconds: number): void {
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

// Otherwise V8 soon places the listeners of each response in its old generation, with all of the request. D-217.
setFlagsFromString('--no-allocation-site-pretenuring');
// Printing the greeting fails on a full disk or without a reader; the gateway serves anyway.
process.stdout.on('error', () => {});
readArguments(process.argv.slice(2));
const config = readConfig();
try {
  endOnSignals(await start(config), config.shutdownSeconds);
} catch (error) {
  console.error(startProblem(error, config));
  process.exit(1);
}
