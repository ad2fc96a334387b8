import { readFileSync } from 'node:fs';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { startMysql } from '../test/support/servers/mysql.js';
import { startRedis } from '../test/support/servers/redis.js';
import { createDataset, dropDataset, type Tenant } from './dataset.js';
import { moveTo, OTHER_CORE } from './processes.js';

/** The servers behind the contestants and their data sets; each is created at its first use. */
export interface Environment {
  mysqlVersion: string;
  /** Null for a server from `TEST_MYSQL_URL`, which may run on another machine. */
  mysqlProcessId: number | null;
  /** Without the name of a database. */
  mysqlUrl: string;
  /** A project with 20,000 pets. */
  listed(): Promise<Tenant>;
  /** An empty project in the same table: pets created here do not change that list. */
  written(): Promise<Tenant>;
  /** A project with `largeRows` pets, in another database. */
  large(): Promise<Tenant>;
  /** A project with 10,000 pets in the same table as the large one. */
  small(): Promise<Tenant>;
  /** A project of each plan with 20,000 pets, in one database. */
  plans(): Promise<Record<'FREE' | 'BUSINESS' | 'ENTERPRISE', Tenant>>;
  redisUrl(): Promise<string>;
  /** Null = MySQL runs on any core. */
  moveDatabase(core: number | null): void;
  stop(): Promise<void>;
}

/** The large project fits into the buffer pool: the rows measure indexes, not disks. */
const MYSQL_ARGS = ['--innodb-buffer-pool-size=3G', '--innodb-redo-log-capacity=1G', '--max-connections=500'];
const DATABASES = { lists: 'petstore_bench', large: 'petstore_bench_large', plans: 'petstore_bench_plans' };

const PLANS = ['FREE', 'BUSINESS', 'ENTERPRISE'] as const;

export async function startEnvironment({ largeRows }: { largeRows: number }): Promise<Environment> {
  const mysql = await startMysql({ args: MYSQL_ARGS });
  const { version, processId } = await describe(mysql.url);
  moveTo(OTHER_CORE, processId);

  const make = (name: keyof typeof DATABASES, projects: Parameters<typeof createDataset>[2]) =>
    onFirstUse(() => createDataset(mysql.url, DATABASES[name], projects));
  const lists = make('lists', [{ pets: 20_000 }, { pets: 0 }]);
  const large = make('large', [{ pets: largeRows }, { pets: 10_000 }]);
  const plans = make(
    'plans',
    PLANS.map((plan) => ({ pets: 20_000, plan })),
  );
  const nth = async (tenants: Promise<Tenant[]>, index: number) => (await tenants)[index] as Tenant;
  let stopRedis = async () => {};
  const redisUrl = onFirstUse(async () => {
    const redis = await startRedis();
    stopRedis = () => redis.stop();
    return redis.url;
  });

  return {
    mysqlVersion: version,
    mysqlProcessId: processId,
    mysqlUrl: mysql.url,
    listed: () => nth(lists(), 0),
    written: () => nth(lists(), 1),
    large: () => nth(large(), 0),
    small: () => nth(large(), 1),
    plans: async () => {
      const [FREE, BUSINESS, ENTERPRISE] = (await plans()) as [Tenant, Tenant, Tenant];
      return { FREE, BUSINESS, ENTERPRISE };
    },
    redisUrl,
    moveDatabase: (core) => moveTo(core, processId),
    stop: async () => {
      for (const name of Object.values(DATABASES)) await dropDataset(mysql.url, name);
      await mysql.stop();
      await stopRedis();
    },
  };
}

async function describe(url: string): Promise<{ version: string; processId: number | null }> {
  const connection = await createConnection({ uri: url });
  const [rows] = await connection.query<RowDataPacket[]>('SELECT @@version AS version, @@pid_file AS file');
  await connection.end();
  const isOurs = !process.env.TEST_MYSQL_URL;
  return {
    version: String(rows[0]?.version),
    processId: isOurs ? Number(readFileSync(String(rows[0]?.file), 'utf8')) : null,
  };
}

function onFirstUse<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => {
    made ??= make();
    return made;
  };
}
