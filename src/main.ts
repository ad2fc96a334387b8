import 'reflect-metadata';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Addresses, isLocalDemo } from './addresses.js';
import { type App, createApp } from './app.js';
import { SCOPES } from './caller.js';
import { type Config, ConfigError, loadConfig } from './config.js';
import { Database } from './database/database.js';
import { migrate } from './database/migrate.js';
import { seedDemo } from './demo.js';
import { LogLines } from './log/log-lines.js';
import { createLogger } from './log/logger.js';
import { startProblem } from './start-problem.js';
import { version } from './version.js';

const USAGE = 2;
const DATABASE_GOODBYE_MS = 200;
/** Of the time in which everything must be over: the last wait of `Drain`, the database's goodbye, and the reader of the log. */
const END_MS = 1_200;

const HELP = `Petstore Gateway. It takes no arguments: settings are environment variables, in the README's table.
Without any it serves http://127.0.0.1:4000 from the file ./var/petstore.sqlite.
  --help, --version   print this, the version
Projects and API keys: npm run -s petstore -- --help`;

/** Ends the process where there are arguments: one that is ignored would start what was not asked for. */
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
  await migrate(config.database);
  const db = await Database.open(config.database, { poolSize: config.databasePoolSize });
  const format = config.logFormat ?? (process.stdout.isTTY ? 'text' : 'json');
  const logger = createLogger({ level: config.logLevel, format }, new LogLines());
  const app = await createApp({ config, db, logger, now: Date.now });
  const addresses = await app.listen();
  // Not earlier: the key is shown once, and must not be lost to a port in use.
  const demoKey = config.demo ? await seedDemo(app.services) : null;
  if (demoKey && isLocalDemo(config)) app.pages.demoKey.offer(demoKey);
  console.log(greeting(addresses, demoKey, config.demo));
  return { app, db };
}

function greeting({ base }: Addresses, demoKey: string | null, isDemo: boolean): string {
  const key = demoKey ?? '<API_KEY>';
  const query = '{"query":"{ pets(first: 3) { nodes { id name status } } project { slug plan } }"}';
  return [
    '',
    `Petstore Gateway listens on ${base}   (open it in a browser for everything else)`,
    `  GraphQL   ${base}/graphql   (open it in a browser for Apollo Sandbox)`,
    `  REST      ${base}/v1/pets   (described by ${base}/v1/openapi.json)`,
    `  Dashboard ${base}/dashboard   (sign in with an API key)`,
    '',
    demoKey
      ? `Demo key, shown this once: ${demoKey}`
      : `For a key: npm run -s petstore -- keys create ${isDemo ? 'demo' : '<project>'} --scopes ${SCOPES.join(',')}`,
    '',
    `curl -s '${base}/graphql' -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '${query}'`,
    `curl -s '${base}/v1/pets?limit=3' -H 'Authorization: Bearer ${key}'`,
    '',
  ].join('\n');
}

/** Ends the process once: with time for load balancers to notice on SIGTERM, promptly on Ctrl-C. */
function endOnSignals({ app, db }: { app: App; db: Database }, shutdownSeconds: number): void {
  let ending = false;
  const end = async (exitCode: number, lameDuckMs: number) => {
    if (ending) process.exit(exitCode || 1);
    ending = true;
    await app.drain.run({ lameDuckMs, withinMs: shutdownSeconds * 1000 - END_MS });
    // After the server: its last act is to store what was counted. A silent database does not say goodbye.
    await Promise.race([db.close().catch(() => {}), sleep(DATABASE_GOODBYE_MS)]);
    process.exit(exitCode);
  };
  const fail = (error: unknown) => {
    app.http.log.fatal({ err: error }, 'unexpected fault, shutting down');
    void end(1, 0);
  };
  process.on('SIGTERM', () => void end(0, (shutdownSeconds * 1000) / 4));
  process.on('SIGINT', () => void end(0, 0));
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
}

// The greeting fails on a full disk and without a reader; the gateway serves all the same.
process.stdout.on('error', () => {});
readArguments(process.argv.slice(2));
const config = readConfig();
try {
  endOnSignals(await start(config), config.shutdownSeconds);
} catch (error) {
  console.error(startProblem(error, config));
  process.exit(1);
}
