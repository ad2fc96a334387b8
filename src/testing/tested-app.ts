import type { AddressInfo } from 'node:net';
import { AbstractLogger } from 'typeorm';
import { type App, createApp } from '../app/app.js';
import { databaseSchema } from '../app/database-schema.js';
import type { LoadedGateway } from '../app/gateway.js';
import { type Config, loadConfig } from '../ground/config/config.js';
import { replicaPool } from '../ground/database/data-source.js';
import { Database } from '../ground/database/database.js';
import type { Scope } from '../ground/kernel/caller.js';
import { createLogger } from '../ground/log/logger.js';
import { migrate } from '../ground/migrating/migrate.js';
import { requireMigrations } from '../ground/migrations/files/migrated-tables.js';
import { ApiKey } from '../tenants/api-keys/api-key.entity.js';
import type { Plan } from '../tenants/projects/plans.js';
import { Project } from '../tenants/projects/project.entity.js';
import type { TestDatabase } from './databases.js';

export const TEST_ACTOR = { name: 'test', requestId: null };

export interface Tenant {
  projectId: bigint;
  slug: string;
  keyId: bigint;
  token: string;
}

export interface TestApp {
  app: App;
  config: Config;
  db: Database;
  /** `http://127.0.0.1:<port>` */
  url: string;
  /** The clock of the app, which tests set. */
  clock: { now: number };
  /** Creates a project with one key, by default with quotas that no test exhausts. */
  tenant(options?: { plan?: Plan; scopes?: readonly Scope[] }): Promise<Tenant>;
  /** Closes the app, which stores its counters, and starts another one on the same database. */
  restarted(): Promise<{ url: string; close(): Promise<void> }>;
  stop(): Promise<void>;
}

export interface StartOptions {
  gateway: LoadedGateway;
  /** The app removes it when it stops. */
  database: TestDatabase;
  env?: Record<string, string>;
  now?: number;
  /** Called with each line of the log. */
  onLog?: (line: string) => void;
  /** Called with each statement sent to the database. */
  onQuery?: (sql: string, parameters: unknown[]) => void;
}

let tenants = 0;

/** Starts the real app on an empty database and a free port, with a clock that stands still until the test sets it. */
export async function startTestedApp({
  gateway,
  database,
  env = {},
  now,
  onLog,
  onQuery,
}: StartOptions): Promise<TestApp> {
  const config = loadConfig({
    DATABASE_URL: database.url,
    PORT: '0',
    LOG_LEVEL: onLog ? 'info' : 'silent',
    // On a busy machine it would refuse requests of tests about other promises.
    OVERLOAD: 'off',
    ...env,
  });
  const schema = databaseSchema(gateway);
  await requireMigrations(schema);
  await migrate(config.database, schema);
  const db = await Database.open(config.database, schema);
  if (config.replica) db.readListsAt(await replicaPool(config.replica, config.databasePoolSize));
  if (onQuery) recordQueries(db, onQuery);
  const clock = { now: now ?? Date.now() };
  const format = config.logFormat ?? 'json';
  const logger = createLogger({ level: config.logLevel, format }, { write: (line) => onLog?.(line) });
  const app = await createApp({ gateway, config, db, logger, now: () => clock.now });
  await app.listen();
  const { port } = app.http.server.address() as AddressInfo;

  return {
    app,
    config,
    db,
    url: `http://127.0.0.1:${port}`,
    clock,
    async tenant({ plan = 'ENTERPRISE', scopes = gateway.scopes.all } = {}) {
      tenants += 1;
      const slug = `tenant-${tenants}`;
      const { projects, apiKeys } = app.services;
      const quota = plan === 'ENTERPRISE' ? 1_000_000_000 : null;
      const wanted = { slug, name: null, plan, perMinute: quota, perDay: quota };
      const project = await projects.create(TEST_ACTOR, wanted);
      const { key, token } = await apiKeys.create(TEST_ACTOR, {
        projectId: project.id,
        name: 'test',
        // Keys without scopes cannot be created any more; older ones still exist.
        scopes: scopes.length > 0 ? scopes : ['keys'],
        expiresAtMs: null,
      });
      if (scopes.length === 0) await db.repository(ApiKey).update({ id: key.id }, { scopes: '' });
      return { projectId: project.id, slug, keyId: key.id, token };
    },
    async restarted() {
      await app.http.close();
      const next = await createApp({ gateway, config, db, logger, now: () => clock.now });
      await next.listen();
      const address = next.http.server.address() as AddressInfo;
      return { url: `http://127.0.0.1:${address.port}`, close: () => next.http.close() };
    },
    async stop() {
      await app.http.close();
      await db.close();
      await database.remove();
    },
  };
}

function recordQueries(db: Database, onQuery: NonNullable<StartOptions['onQuery']>): void {
  const { dataSource } = db.repository(Project).manager;
  dataSource.logger = new (class extends AbstractLogger {
    override logQuery(sql: string, parameters?: unknown[]) {
      onQuery(sql, parameters ?? []);
    }
    protected override writeLog() {}
  })();
}
