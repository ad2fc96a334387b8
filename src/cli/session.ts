import { ConfigError, type DatabaseTarget, isInMemory, loadConfig } from '../config.js';
import type { CustomDomains } from '../custom-domains.js';
import type { Database } from '../database/database.js';
import { isTableMissing } from '../database/database-errors.js';
import { openProblem } from '../database/open-problem.js';
import { AppError } from '../errors.js';
import type { Services } from '../services.js';

/** Nobody's request waits for the answer, but a command must not hang either. */
const QUERY_TIMEOUT_MS = 10_000;

/** Runs a command's work on the services of the configured database, which is set up first if it is new. */
export async function withServices<T>(
  work: (services: Services, shared: { db: Database; redisUrl: string | null }) => Promise<T>,
): Promise<T> {
  const { redisUrl } = loadConfig(process.env);
  const database = sharedDatabase();
  // Not imported above: what comes along with the services would make `--help` four times as slow.
  const [{ createServices }, { Database: OpenDatabase }] = await Promise.all([
    import('../services.js'),
    import('../database/database.js'),
  ]);
  const db = await OpenDatabase.open(database, { queryTimeoutMs: QUERY_TIMEOUT_MS });
  try {
    const isReady = await db.isReady().catch((error) => {
      if (isTableMissing(error)) return null;
      throw error;
    });
    if (isReady === null) await setUp(database);
    // A newer program must not change the schema under a running server unasked.
    if (isReady === false) {
      throw new AppError(
        'conflict',
        'The database lacks the newest migrations. Run `petstore migrate` first.',
      );
    }
    return await work(createServices(db, Date.now), { db, redisUrl });
  } finally {
    await db.close();
  }
}

/** As `withServices`, for the work on custom domains. */
export function withDomains<T>(work: (domains: CustomDomains, services: Services) => Promise<T>): Promise<T> {
  return withServices(async (services, { db }) => {
    const { createCustomDomains } = await import('../custom-domains.js');
    const config = loadConfig(process.env);
    const log = { warn: () => {} };
    const domains = createCustomDomains({
      config,
      db,
      services,
      log,
      onEvent: () => {},
      // Nothing is served from here.
      onChange: async () => {},
      now: Date.now,
    });
    try {
      return await work(domains, services);
    } finally {
      await domains.stop();
    }
  });
}

/** The configured database. Throws `ConfigError` for one in memory, which would end with the command. */
export function sharedDatabase(): DatabaseTarget {
  const { database } = loadConfig(process.env);
  if (!isInMemory(database)) return database;
  throw new ConfigError(
    'DATABASE_URL names a database in memory, which the gateway shares with nobody. Give a file or a server.',
  );
}

async function setUp(database: DatabaseTarget): Promise<void> {
  const { migrate } = await import('../database/migrate.js');
  await migrate(database);
}

/** A fault, said with the database in view: what went wrong is nearly always about it. */
export function databaseProblem(error: unknown): [code: 'unavailable' | 'internal', message: string] {
  const { message, code, driverError } = error as NodeJS.ErrnoException & { driverError?: Error };
  const isDatabase = driverError !== undefined || code !== undefined;
  if (!isDatabase) return ['internal', `Unexpected fault: ${message}`];
  const { database } = loadConfig(process.env);
  return ['unavailable', `The database ${openProblem(database, error)}. Try \`petstore doctor\`.`];
}
