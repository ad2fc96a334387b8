import type libsql from 'libsql';
import type { Pool } from 'mysql2';
import {
  DataSource,
  type DataSourceOptions,
  EntitySchema,
  type EntitySchemaOptions,
  type MigrationInterface,
  type QueryRunner,
  type TableOptions,
} from 'typeorm';
import type { DatabaseTarget, MysqlTarget } from '../config/config.js';
import { onSqlite } from './columns.js';

export interface DataSourceSettings {
  poolSize: number;
  /** The longest wait for a connection and, separately, for one statement. */
  queryTimeoutMs: number;
  /** Gets a sentence when another of several servers is used than before. */
  onMove?: ((sentence: string) => void) | undefined;
}

interface Migration extends MigrationInterface {
  /**
   * The waits of other statements while it runs on a large table; null = none that people notice. On SQLite every migration
   * is a write transaction, so other writes wait for it.
   */
  readonly locks: { readonly mysql: string | null; readonly sqlite: string | null };
}

/** The tables and migrations of all nouns. */
export interface DatabaseSchema {
  /** A class with decorators, or plain data. */
  readonly entities: readonly ((new () => object) | EntitySchemaOptions<{ projectId: bigint }>)[];
  /** Oldest first. */
  readonly migrations: readonly (new () => Migration)[];
  /** The tables that follow from definitions: `petstore migrate --write` keeps the migrations equal to them. */
  readonly definitions?: readonly (TableOptions & { readonly filledFrom?: string })[];
}

/** Migrations can take long, but a missing server must be noticed soon. */
const CONNECT_TIMEOUT_MS = 8_000;

/** SQLite: another process can hold the lock of the file while it creates it or closes it as the last one. */
const OPEN_WAIT_MS = 2_000;

/** Of each wait. The list must still get its answer from the primary within its 5 s. */
const REPLICA_TIMEOUT_MS = 500;

/** Requests for a connection, for each connection of the pool. */
const MOST_WAITING = 50;

const WAL_KEPT_BYTES = 64 * 1024 * 1024;

/** The only place that creates a DataSource; it is not opened yet. Only the driver of the target is loaded. */
export async function createDataSource(
  target: DatabaseTarget,
  { entities, migrations }: DatabaseSchema,
  settings: DataSourceSettings,
): Promise<DataSource> {
  const shared = {
    entities: entities.map((each) =>
      typeof each === 'function' ? each : new EntitySchema(ofEngine(each, target)),
    ),
    migrations: [...migrations],
    synchronize: false,
    logging: false,
  } satisfies Partial<DataSourceOptions>;

  if (target.kind === 'sqlite') {
    const { SqliteDriver } = await import('./sqlite/sqlite-driver.js');
    const { examineSqliteFile } = await import('./sqlite/sqlite-file.js');
    const warning = examineSqliteFile(target.path);
    if (warning !== null) console.error(warning);
    return new DataSource({
      ...shared,
      type: 'better-sqlite3',
      driver: SqliteDriver,
      database: target.path,
      enableWAL: true,
      timeout: OPEN_WAIT_MS,
      prepareDatabase: (connection: libsql.Database) => {
        connection.pragma('synchronous = FULL');
        // A long read by another program lets the WAL file grow; afterwards it shrinks to this size.
        connection.pragma(`journal_size_limit = ${WAL_KEPT_BYTES}`);
      },
    });
  }
  const { boundedMysql } = await import('./bounded-mysql.js');
  return new DataSource({
    ...shared,
    type: target.kind,
    driver: boundedMysql({
      ...settings,
      servers: target.servers,
      isStrict: target.consistency !== 'local',
    }),
    url: target.url,
    ...connectionOptions(target, settings),
    poolSize: settings.poolSize,
    extra: { queueLimit: settings.poolSize * MOST_WAITING, enableKeepAlive: true },
  });
}

/** Connections to a replica of the database; none is opened yet. */
export async function replicaPool(target: MysqlTarget, poolSize: number): Promise<Pool> {
  const settings = { poolSize, queryTimeoutMs: REPLICA_TIMEOUT_MS };
  const { boundedMysql } = await import('./bounded-mysql.js');
  return boundedMysql({ ...settings, servers: target.servers, isStrict: true }).createPool({
    uri: target.url,
    ...connectionOptions(target, settings),
    connectionLimit: settings.poolSize,
    queueLimit: settings.poolSize * MOST_WAITING,
    enableKeepAlive: true,
  });
}

function connectionOptions({ servers, tls }: MysqlTarget, { queryTimeoutMs }: DataSourceSettings) {
  return {
    charset: 'utf8mb4',
    timezone: 'Z',
    supportBigNumbers: true,
    bigNumberStrings: true,
    // Each server has its turn before the deadline.
    connectTimeout: Math.min(queryTimeoutMs, CONNECT_TIMEOUT_MS) / servers.length,
    ...(tls ? { ssl: {} } : {}),
  };
}

function ofEngine<Entity extends EntitySchemaOptions<{ projectId: bigint }>>(
  entity: Entity,
  target: DatabaseTarget,
): Entity {
  if (target.kind !== 'sqlite') return entity;
  const columns = Object.entries(entity.columns).map(([name, column]) => [name, column && onSqlite(column)]);
  return { ...entity, columns: Object.fromEntries(columns) };
}

export async function withDataSource<T>(
  target: DatabaseTarget,
  schema: DatabaseSchema,
  settings: DataSourceSettings,
  work: (source: DataSource) => Promise<T>,
): Promise<T> {
  const source = await createDataSource(target, schema, settings);
  await source.initialize();
  try {
    return await work(source);
  } finally {
    await source.destroy();
  }
}

/** Called around each statement. */
export type StatementTrace = <T>(sql: string, run: () => Promise<T>) => Promise<T>;

/** From now on `trace` is called around each statement of TypeORM. */
export function traceRunners(source: DataSource, trace: StatementTrace): void {
  const createRunner = source.createQueryRunner.bind(source);
  const traced = new WeakSet<QueryRunner>();
  source.createQueryRunner = (mode) => {
    const runner = createRunner(mode);
    // SQLite has one query runner.
    if (traced.has(runner)) return runner;
    traced.add(runner);
    const query = runner.query.bind(runner) as (...args: unknown[]) => Promise<unknown>;
    runner.query = ((...args: [string]) => trace(args[0], () => query(...args))) as typeof runner.query;
    return runner;
  };
}
