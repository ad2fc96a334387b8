import { readFile } from 'node:fs/promises';
import { loadConfig } from '../../../src/ground/config/config.js';
import { migrate } from '../../../src/ground/migrating/migrate.js';
import { ChangedTable } from '../../../src/ground/migrations/table-changes.js';
import { openLogOf } from '../changes/open-log.js';
import { DATABASE_SCHEMA } from '../gateway/tested-gateway.js';
import { createTenant, type GatewayProcess, startGateway } from '../gateway-process.js';
import { rest } from '../http/client.js';
import { type GaleraNode, startGalera } from '../servers/clusters/galera.js';
import { type GroupMember, startGroup } from '../servers/clusters/group-replication.js';
import { freePort } from '../servers/daemon.js';
import { startWatchedRedis, type WatchedRedis } from '../servers/redis.js';

export type Engine = 'galera' | 'group';

/** Of any engine. */
type Node = GroupMember & Pick<GaleraNode, 'cut' | 'join'>;

/** A node, and the gateway whose database it is. */
export interface Place {
  readonly node: Node;
  gateway: GatewayProcess;
  /** Ends the gateway in peace, and starts the next at the same address. */
  restart(): Promise<void>;
  /** The address of the gateway, while it has one. */
  readonly url: string;
}

export interface ThreeGateways {
  readonly places: readonly Place[];
  readonly redis: WatchedRedis;
  /** The token of a new project whose changes are logged. By default its quota is never spent. */
  tenant(perDay?: number): Promise<string>;
  /** Sends as many requests at once, to each gateway in turn. Returns how many were admitted. */
  spend(token: string, requests: number): Promise<number>;
  /** Applies a further migration there, as a newer release does while these gateways serve. */
  migrate(node: Node): Promise<void>;
  stop(): Promise<void>;
}

/** Three gateways of the tests, each at its own node of a cluster, with one Redis that Sentinels watch. */
export async function startThreeGateways(engine: Engine): Promise<ThreeGateways> {
  const [cluster, redis] = await Promise.all([startNodes(engine), startWatchedRedis()]);
  const [first] = cluster.nodes as [Node, ...Node[]];
  const databaseUrl = `${first.url}/petstore`;
  const places: Place[] = [];
  const stop = async () => {
    await Promise.all(places.map(({ gateway }) => gateway.kill('SIGKILL')));
    await Promise.all([cluster.stop(), redis.stop()]);
  };
  try {
    await first.query('CREATE DATABASE petstore');
    for (const node of cluster.nodes) places.push(await startPlace(node, redis.url));
  } catch (error) {
    await stop();
    throw error;
  }
  const tenant = async (perDay?: number) => {
    const token = await createTenant(databaseUrl);
    const projectId = await openLogOf(databaseUrl, token);
    if (perDay) await first.query(`UPDATE petstore.projects SET per_day = ${perDay} WHERE id = ${projectId}`);
    return token;
  };
  const spend = async (token: string, requests: number) => {
    const answers = Array.from({ length: requests }, (_, at) =>
      rest((places[at % places.length] as Place).url, '/v1/toys?limit=1', { token }),
    );
    return (await Promise.all(answers)).filter(({ status }) => status === 200).length;
  };
  let columns = 0;
  const migrateAt = async (node: Node) => {
    columns += 1;
    const migrations = [
      ...DATABASE_SCHEMA.migrations,
      ...Array.from({ length: columns }, (_, at) => columnAt(at)),
    ];
    const applied = await migrate(loadConfig({ DATABASE_URL: `${node.url}/petstore` }).database, {
      ...DATABASE_SCHEMA,
      migrations,
    });
    if (applied.length !== 1) throw new Error(`${applied.length} migrations were applied`);
  };
  return { places, redis, tenant, spend, migrate: migrateAt, stop };
}

async function startNodes(engine: Engine): Promise<{ nodes: readonly Node[]; stop(): Promise<void> }> {
  if (engine === 'galera') return startGalera({ providerOptions: await timesOfGalera() });
  const { members, stop } = await startGroup();
  return { nodes: members, stop };
}

/** As the compose file sets them. */
async function timesOfGalera(): Promise<string> {
  const times = (await readFile('deploy/galera.cnf', 'utf8')).match(/evs\.[a-z_]+=PT[\d.]+S/g) ?? [];
  if (times.length === 0) throw new Error('deploy/galera.cnf sets no times');
  return times.join(';');
}

async function startPlace(node: Node, redisUrl: string): Promise<Place> {
  const port = String(await freePort());
  const env = {
    DATABASE_URL: `${node.url}/petstore`,
    REDIS_URL: redisUrl,
    PORT: port,
    REQUEST_LOG: 'off',
  };
  const place: Place = {
    node,
    gateway: await startGateway({ env }),
    url: `http://127.0.0.1:${port}`,
    async restart() {
      await place.gateway.kill('SIGTERM');
      await place.gateway.ended;
      place.gateway = await startGateway({ env });
    },
  };
  return place;
}

/** A migration that adds a column to the toys. */
function columnAt(at: number): new () => ChangedTable {
  const changes = [{ addColumn: { name: `of_test_${at}`, type: 'int', isNullable: true } }];
  const name = `OfTest${1_900_000_000_000 + at}`;
  return class extends ChangedTable {
    readonly name = name;
    readonly table = 'toys';
    readonly changes = changes;
  };
}
