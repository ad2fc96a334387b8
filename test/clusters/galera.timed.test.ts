import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { checkDatabase } from '../../src/cli/doctor-checks.js';
import { loadConfig } from '../../src/ground/config/config.js';
import { Database } from '../../src/ground/database/database.js';
import { startTestedApp, TEST_ACTOR, type Tenant, type TestApp } from '../../src/testing/tested-app.js';
import { openLogOf } from '../support/changes/open-log.js';
import { eventually } from '../support/eventually.js';
import { DATABASE_SCHEMA, GATEWAY } from '../support/gateway/tested-gateway.js';
import { createTenant, type GatewayProcess, startGateway } from '../support/gateway-process.js';
import { graphql, rest } from '../support/http/client.js';
import { type FaultProxy, startFaultProxy } from '../support/http/fault-proxy.js';
import { type Galera, type GaleraNode, startGalera } from '../support/servers/clusters/galera.js';
import { freePort } from '../support/servers/daemon.js';
import { type RedisServer, startRedis } from '../support/servers/redis.js';

const ROUNDS = 64;
/** The remaining nodes need 6 s to agree that a node is away. */
const MOVED_WITHIN_MS = 12_000;
const LIST = '{ toys(first: 100, orderBy: NEWEST) { nodes { id } } }';

let galera: Galera;
let redis: RedisServer;
let apps: TestApp[];
let tenant: Tenant;

const node = (at: number) => galera.nodes[at] as GaleraNode;
const urlOf = (at: number) => `${node(at).url}/petstore`;
const app = (at: number) => apps[at] as TestApp;

function startAt(at: number, env: Record<string, string> = {}): Promise<TestApp> {
  const database = { url: urlOf(at), remove: async () => {} };
  return startTestedApp({ gateway: GATEWAY, database, env: { REDIS_URL: redis.url, ...env } });
}

beforeAll(async () => {
  [galera, redis] = await Promise.all([startGalera(), startRedis()]);
  await node(0).query('CREATE DATABASE petstore');
  apps = [];
  for (const at of [0, 1, 2]) apps.push(await startAt(at));
  tenant = await app(0).tenant();
});
afterAll(async () => {
  await Promise.all(apps.map((each) => each.stop()));
  await Promise.all([galera.stop(), redis.stop()]);
});

describe('reads at another node than the write', () => {
  test('Cluster-1: show it at once, while one node has other work: lists, records, lists from memory, and new keys', async () => {
    const { projectId, token } = tenant;
    const work = await otherWork(node(0));
    const seen = { answers: 0, stale: 0 };
    const note = (isCurrent: boolean) => {
      seen.answers += 1;
      if (!isCurrent) seen.stale += 1;
    };
    try {
      for (let round = 0; round < ROUNDS; round += 1) {
        const body = { name: `Toy ${round}`, categoryId: 1 };
        const { body: made } = await rest(app(0).url, '/v1/toys', { method: 'POST', token, body });
        const id = String(made.id);
        await Promise.all(
          [1, 2].map(async (at) => {
            const { url } = app(at);
            const one = rest(url, `/v1/toys/${id}`, { token });
            const many = rest(url, '/v1/toys?limit=100', { token });
            const newest = graphql(url, LIST, { token });
            note((await one).status === 200);
            note((await many).text.includes(id));
            note((await newest).text.includes(id));
            // The second time it is kept in memory, the third time it comes from there.
            note((await graphql(url, LIST, { token })).text.includes(id));
          }),
        );
        const remove = `mutation { deleteToy(id: "${id}") { id } }`;
        await graphql(app(0).url, remove, { token });
        const wanted = { projectId, name: 'new', scopes: ['toys:read'], expiresAtMs: null } as const;
        const { token: newest } = await app(0).app.services.apiKeys.create(TEST_ACTOR, wanted);
        await Promise.all(
          [1, 2].map(async (at) => {
            const { status, text } = await graphql(app(at).url, LIST, { token: newest });
            note(status === 200 && !text.includes(id));
          }),
        );
      }
    } finally {
      await work.stop();
    }
    expect(seen.answers).toBeGreaterThanOrEqual(500);
    expect(seen.stale).toBe(0);
  });

  test('Cluster-2: waits for a node that is behind; with DATABASE_CONSISTENCY=local it is not found there', async () => {
    const { token } = tenant;
    const local = await startAt(2, { DATABASE_CONSISTENCY: 'local' });
    try {
      // Both know the key by now, and have connections.
      for (const { url } of [app(2), local]) {
        expect((await rest(url, '/v1/toys?limit=1', { token })).status).toBe(200);
      }
      const { made, whileBehind } = await behind(node(2), async () => {
        const input = { name: 'Late', categoryId: 1 };
        const { body: given } = await rest(app(0).url, '/v1/toys', { method: 'POST', token, body: input });
        const path = `/v1/toys/${given.id}`;
        const early = await rest(local.url, path, { token });
        const late = rest(app(2).url, path, { token });
        await eventually('a statement waits', async () => (await waitingAt(node(2))) > 0);
        return { made: given, whileBehind: { early: early.status, late } };
      });
      expect(whileBehind.early).toBe(404);
      expect(await whileBehind.late).toMatchObject({ status: 200, body: { id: made.id } });
    } finally {
      await local.stop();
    }
  });

  test('Cluster-3: every session waits before reads and writes; with DATABASE_CONSISTENCY=local it is as the server says', async () => {
    const settingOf = async (consistency: string) => {
      const { database } = loadConfig({ DATABASE_URL: urlOf(1), DATABASE_CONSISTENCY: consistency });
      const db = await Database.open(database, DATABASE_SCHEMA, { poolSize: 3 });
      try {
        const ask = () => db.execute<{ value: string }>('SELECT @@wsrep_sync_wait AS value, SLEEP(0.05)', []);
        return (await Promise.all([ask(), ask(), ask()])).flat().map(({ value }) => Number(value));
      } finally {
        await db.close();
      }
    };
    expect(await settingOf('strict')).toEqual([7, 7, 7]);
    expect(await settingOf('local')).toEqual([0, 0, 0]);
  });
});

test('Cluster-4: a session whose setting the server refuses runs no statement, and the start says why', async () => {
  const proxy: FaultProxy = await startFaultProxy(Number(new URL(node(1).url).port));
  const sent: string[] = [];
  await proxy.set({
    ofRequest(bytes, { server }) {
      sent.push(bytes.subarray(5).toString('latin1'));
      // The server does not know this variable.
      server.write(
        Buffer.from(bytes.toString('latin1').replace('wsrep_sync_wait =', 'wsrep_sink_wait ='), 'latin1'),
      );
    },
  });
  const at = new URL(urlOf(1));
  at.port = String(proxy.port);
  const open = (consistency: string) => {
    const { database } = loadConfig({ DATABASE_URL: at.href, DATABASE_CONSISTENCY: consistency });
    return Database.open(database, DATABASE_SCHEMA);
  };
  try {
    await expect(open('strict')).rejects.toThrow(
      /it refuses "wsrep_sync_wait = .*": Unknown system variable .*DATABASE_CONSISTENCY=local/,
    );
    expect(sent.filter((sql) => /^SELECT (?!plugin_name)/.test(sql))).toEqual([]);
    await (await open('local')).close();
    expect(sent.filter((sql) => /^SELECT (?!plugin_name)/.test(sql))).not.toEqual([]);
  } finally {
    await proxy.stop();
  }
});

test('Cluster-5: doctor, the start and the metric name the engine, the nodes of its cluster, and the mode', async () => {
  const hosts = galera.nodes.map(({ url }) => new URL(url).host);
  const { ok, found } = (await checkDatabase(loadConfig({ DATABASE_URL: urlOf(1) }))) ?? {};
  expect(ok).toBe(true);
  expect(found).toMatch(/^mariadb [\d.]+-MariaDB\S*, Galera of 3 nodes \(.*\), strict answers$/);
  for (const host of hosts) expect(found).toContain(host);
  const metricsPort = String(await freePort());
  const env = { DATABASE_URL: urlOf(1), DATABASE_CONSISTENCY: 'local', METRICS_PORT: metricsPort };
  const gateway: GatewayProcess = await startGateway({ env });
  try {
    expect(gateway.output()).toMatch(/^ {2}Database {2}mariadb .*, Galera of 3 nodes \(.*\), local$/m);
    const { text } = await rest(`http://127.0.0.1:${metricsPort}`, '/metrics');
    expect(text).toMatch(
      /^petstore_database_members\{engine="mariadb",version="[\d.]+-MariaDB[^"]*",cluster="Galera",mode="local"\} 3$/m,
    );
  } finally {
    await gateway.kill('SIGKILL');
  }
});

test('Cluster-9: of the logged writes of one project from three nodes at most 2 % run again, and none fails', async () => {
  const token = await createTenant(urlOf(0));
  await openLogOf(urlOf(0), token);
  const repeats = () => apps.reduce((sum, { db }) => sum + db.repeatedWrites, 0);
  const before = repeats();
  const body = { name: 'Hot', categoryId: 1 };
  const writers = [0, 1, 2, 3, 4, 5].map(async (at) => {
    const statuses: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1)
      statuses.push((await rest(app(at % 3).url, '/v1/toys', { method: 'POST', token, body })).status);
    return statuses;
  });
  const statuses = (await Promise.all(writers)).flat();
  expect(statuses.filter((status) => status !== 201)).toEqual([]);
  expect(repeats() - before).toBeLessThanOrEqual(0.02 * statuses.length);
});

test('Cluster-8: a gateway with three addresses goes on at another node within 12 s after its node is cut or killed, and says so', async () => {
  const url = `mysql://root@${galera.nodes.map((each) => new URL(each.url).host).join()}/petstore`;
  const gateway: GatewayProcess = await startGateway({ env: { DATABASE_URL: url } });
  const { token } = tenant;
  const create = (name: string) =>
    rest(gateway.url, '/v1/toys', { method: 'POST', token, body: { name, categoryId: 1 } });
  const used = () => {
    const [, port] = /.*the database is used at 127\.0\.0\.1:(\d+) now/s.exec(gateway.output()) ?? [];
    return port === undefined ? 0 : galera.nodes.findIndex((each) => new URL(each.url).port === port);
  };
  const faults: [
    name: string,
    begin: (at: GaleraNode) => Promise<void>,
    end: (at: GaleraNode) => Promise<void>,
  ][] = [
    ['cut', (at) => at.cut(), (at) => at.join()],
    ['killed', (at) => at.kill('SIGKILL'), (at) => at.start()],
  ];
  try {
    for (const [name, begin, end] of faults) {
      expect((await create(`before: ${name}`)).status).toBe(201);
      const left = used();
      await begin(node(left));
      const made = await eventually(
        `writes go on: ${name}`,
        async () => {
          const { status, body } = await create(name);
          expect([201, 503]).toContain(status);
          return status === 201 && String(body.id);
        },
        MOVED_WITHIN_MS,
      );
      for (let round = 0; round < 20; round += 1) {
        expect((await create(`${name} ${round}`)).status).toBe(201);
        expect((await rest(gateway.url, `/v1/toys/${made}`, { token })).status).toBe(200);
      }
      expect((await rest(gateway.url, '/readyz')).status).toBe(200);
      await eventually('the line', () => used() !== left);
      await end(node(left));
    }
    expect(gateway.faults()).toEqual([]);
  } finally {
    await gateway.kill('SIGKILL');
  }
}, 120_000);

/** The node applies nothing meanwhile. */
async function behind<T>({ url }: GaleraNode, work: () => Promise<T>): Promise<T> {
  const lock = await createConnection(url);
  try {
    await lock.query('FLUSH TABLES WITH READ LOCK');
    return await work();
  } finally {
    await lock.query('UNLOCK TABLES');
    await lock.end();
  }
}

/** Statements of gateways that read toys and have no answer yet. */
async function waitingAt(at: GaleraNode): Promise<number> {
  const [row] = await at.query(
    "SELECT COUNT(*) AS waiting FROM information_schema.processlist WHERE info LIKE 'SELECT%toys%' AND info NOT LIKE '%processlist%'",
  );
  return Number(row?.waiting);
}

/** Large writes at the node, which the others apply, until `stop`. */
async function otherWork(at: GaleraNode): Promise<{ stop(): Promise<void> }> {
  await at.query('CREATE DATABASE other');
  await at.query('CREATE TABLE other.work (id INT PRIMARY KEY, value INT)');
  await at.query('INSERT INTO other.work SELECT seq, 0 FROM other.seq_1_to_3000');
  const connection = await createConnection(at.url);
  let isOver = false;
  const run = async () => {
    while (!isOver) await connection.query<RowDataPacket[]>('UPDATE other.work SET value = value + 1');
  };
  const running = run();
  return {
    stop: async () => {
      isOver = true;
      await running;
      await connection.end();
    },
  };
}
