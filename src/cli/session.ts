import { userInfo } from 'node:os';
import { type Gateway, loadGateway } from '../app/gateway.js';
import type { Services } from '../app/services.js';
import type { CustomDomains } from '../domains/custom-domains.js';
import { ConfigError, type DatabaseTarget, isInMemory, loadConfig } from '../ground/config/config.js';
import type { DatabaseSchema } from '../ground/database/data-source.js';
import type { Database } from '../ground/database/database.js';
import { isTableMissing, openProblem } from '../ground/database/database-errors.js';
import type { Actor, ServiceCall } from '../ground/kernel/caller.js';
import { AppError } from '../ground/kernel/errors.js';
import { ProjectSignals } from '../ground/records/project-signals.js';
import { RedisSignals } from '../ground/records/redis-signals.js';

/** Longer than for requests, but a command must not hang. */
const QUERY_TIMEOUT_MS = 10_000;

/** Runs a command's work on the services of the configured database. Sets a new database up first. */
export async function withServices<T>(
  named: Gateway,
  work: (services: Services, shared: { db: Database; redisUrl: string | null }) => Promise<T>,
): Promise<T> {
  const { redisUrl } = loadConfig(process.env);
  const database = sharedDatabase();
  // Imported here: loading the services and TypeORM takes three times as long as everything that `--help` needs.
  const { createServices } = await import('../app/services.js');
  const { databaseSchema } = await import('../app/database-schema.js');
  const { Database: OpenDatabase } = await import('../ground/database/database.js');
  const gateway = await loadGateway(named);
  const schema = databaseSchema(gateway);
  const { requireMigrations } = await import('../ground/migrations/files/migrated-tables.js');
  await requireMigrations(schema);
  const signals = redisUrl === null ? new ProjectSignals() : new RedisSignals(redisUrl);
  const db = await OpenDatabase.open(database, schema, { queryTimeoutMs: QUERY_TIMEOUT_MS });
  try {
    const isReady = await db.isReady().catch((error) => {
      if (isTableMissing(error)) return null;
      throw error;
    });
    if (isReady === null) {
      const { migrate } = await import('../ground/migrating/migrate.js');
      await migrate(database, schema);
    }
    // A newer program must not change the schema under a running server without a command.
    if (isReady === false) {
      throw new AppError(
        'conflict',
        'The database lacks the newest migrations. Run `petstore migrate` first.',
      );
    }
    const services = createServices(gateway, db, Date.now, { signals });
    await services.startIds();
    return await work(services, { db, redisUrl });
  } finally {
    await signals.close();
    await db.close();
  }
}

/** The tables and migrations of the gateway. */
export async function schemaOf(gateway: Gateway): Promise<DatabaseSchema> {
  const { databaseSchema } = await import('../app/database-schema.js');
  return databaseSchema(await loadGateway(gateway));
}

export function commandLineActor(): Actor {
  return { name: `cli:${userInfo().username}`, requestId: null };
}

/** As `withServices`, for the work on the domains of a project. */
export function withDomains<T>(
  gateway: Gateway,
  slug: string,
  work: (domains: CustomDomains, call: ServiceCall) => Promise<T>,
): Promise<T> {
  return withServices(gateway, async (services, { db }) => {
    const { createCustomDomains } = await import('../domains/custom-domains.js');
    const { ownHostsOf } = await import('../app/addresses.js');
    const config = loadConfig(process.env, gateway.slug);
    // This process serves no hosts.
    const ownHosts = ownHostsOf(config);
    const domains = createCustomDomains({ config, db, services, ownHosts, now: Date.now });
    try {
      const { id: projectId } = await services.projects.getBySlug(slug);
      const rights = {
        quota: { perMinute: 0, perDay: 0 },
        scopes: new Set(gateway.scopes.all),
        rehearses: false,
      };
      const caller = { keyId: 0n, projectId, ...rights, changesSinceMs: null };
      return await work(domains, { caller, actor: commandLineActor(), idempotencyKey: null });
    } finally {
      await domains.stop();
    }
  });
}

/** The configured database. Throws as `storedDatabase`. */
export function sharedDatabase(): DatabaseTarget {
  return storedDatabase('DATABASE_URL', loadConfig(process.env).database);
}

/** The database that a setting or an option names. Throws `ConfigError` for one in memory, which would end with the command. */
export function storedDatabase(name: string, target: DatabaseTarget): DatabaseTarget {
  if (!isInMemory(target)) return target;
  throw new ConfigError(
    `${name} names a database in memory, which no other process can use. Set it to a file or a server.`,
  );
}

export function databaseProblem(error: unknown): [code: 'unavailable' | 'internal', message: string] {
  const { message, code, driverError } = error as NodeJS.ErrnoException & { driverError?: Error };
  const isDatabase = driverError !== undefined || code !== undefined;
  if (!isDatabase) return ['internal', `Unexpected fault: ${message}`];
  const { database } = loadConfig(process.env);
  return ['unavailable', `The database ${openProblem(database, error)}. Try \`petstore doctor\`.`];
}
