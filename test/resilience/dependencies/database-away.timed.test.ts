import { expect, test } from '@jest/globals';
import { createConnection } from 'mysql2/promise';
import { createTestDatabase, databaseKinds } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { createTenant, type GatewayProcess, startGateway } from '../../support/gateway-process.js';
import { type Fault, startFaultProxy } from '../../support/http/fault-proxy.js';
import { type Answered, KeepAliveClient } from '../../support/http/keep-alive-client.js';
import { testOnMysql } from '../../support/on-databases.js';
import { startMysql } from '../../support/servers/mysql.js';
import type { SqlServer } from '../../support/servers/sql-server.js';
import { type Habit, ToyLoad } from '../../support/toy-load.js';

/** Patience with a busy machine; not a promised time. */
const LONGEST_MS = 180_000;
const ANSWERED_WITHIN_MS = 5_000;
const HEALED_WITHIN_MS = 5_000;
/** Longer than every wait inside a request. */
const AWAY_MS = 6_000;
const HABITS: Habit[] = Array.from(
  { length: 15 },
  (_, index) =>
    (['create', 'create with key', 'create by both doors with key', 'read', 'read by GraphQL'] as const)[
      index % 5
    ] as Habit,
);

/** A database whose outage the test begins and ends. */
interface Outage {
  databaseUrl: string;
  begin(): Promise<void>;
  end(): Promise<void>;
  cleanUp(): Promise<void>;
}

const OUTAGES: { what: string; prepare: () => Promise<Outage> }[] = [
  { what: 'a database whose port refuses', prepare: () => networkOutage('refuse') },
  { what: 'a database whose connections are reset', prepare: () => networkOutage('reset') },
  { what: 'a network that drops everything', prepare: () => networkOutage('black hole') },
  { what: 'a network that drops the answers only', prepare: () => networkOutage('deaf') },
  { what: 'kill -9 of MySQL', prepare: () => serverOutage('SIGKILL', (server) => server.restart()) },
  { what: 'a frozen MySQL', prepare: () => serverOutage('SIGSTOP', (server) => server.kill('SIGCONT')) },
];

const { each } = databaseKinds().includes('mysql') ? test.concurrent : test.concurrent.skip;

each(OUTAGES)(
  'Reliability-2: under $what every request is answered in 5 s, service is back in 5 s, and no acknowledged write is lost',
  async ({ prepare }) => {
    const outage = await prepare();
    const gateway = await startGateway({ env: { DATABASE_URL: outage.databaseUrl } });
    const load = new ToyLoad(gateway.url, await createTenant(outage.databaseUrl), HABITS);
    const probes = watch(gateway);
    try {
      await eventually('toys made', () => load.acknowledged.size >= 100);
      const beganAt = performance.now();
      await outage.begin();
      const wasAway = () => performance.now() - beganAt > AWAY_MS;
      await eventually('away', wasAway, 2 * AWAY_MS);
      const isReadyAway = probes.readiness.at(-1)?.status;
      await outage.end();
      const backAt = performance.now();
      const served = () => load.answers.filter(({ code, sentAt }) => sentAt > backAt && code === null);
      const everyHabit = () => new Set(HABITS).size === new Set(served().map(({ habit }) => habit)).size;
      await eventually('served again', () => served().length >= 200 && everyHabit());
      await eventually('ready again', () => probes.readiness.at(-1)?.status === 200);
      await load.settle();

      const all = [...load.answers, ...probes.readiness, ...probes.liveness];
      const refused = load.answers.filter(({ status }) => status === 503);
      const healedAt = Math.max(
        ...all.filter(({ status }) => status === 503).map(({ answeredAt }) => answeredAt),
      );
      expect(isReadyAway).toBe(503);
      expect(load.failures).toEqual([]);
      expect(Math.max(...all.map(tookMs))).toBeLessThan(ANSWERED_WITHIN_MS);
      expect(healedAt - backAt).toBeLessThan(HEALED_WITHIN_MS);
      expect(probes.liveness.filter(({ status }) => status !== 200)).toEqual([]);
      expect(refused.length).toBeGreaterThanOrEqual(HABITS.length);
      expect(
        refused.filter(({ code, headers }) => code !== 'unavailable' || !headers['retry-after']),
      ).toEqual([]);
      const unexpected = load.answers.filter(
        ({ code }) => code !== null && code !== 'unavailable' && code !== 'conflict',
      );
      expect(unexpected).toEqual([]);
      expect(await load.findings()).toEqual({ missing: [], duplicate: [] });
      expect(gateway.hasEnded()).toBe(false);
      expect(gateway.faults()).toEqual([]);
    } finally {
      load.abandon();
      await probes.stop();
      await gateway.kill('SIGKILL');
      await outage.cleanUp();
    }
  },
  LONGEST_MS,
);

testOnMysql(
  'Reliability-10: one client is enough to replace, in 5 s, a whole pool of connections that the network forgot',
  async () => {
    const outage = await networkOutage('half-open');
    const gateway = await startGateway({ env: { DATABASE_URL: outage.databaseUrl } });
    const token = await createTenant(outage.databaseUrl);
    const load = new ToyLoad(gateway.url, token, HABITS);
    const client = new KeepAliveClient(gateway.url, token);
    try {
      await eventually('every connection used', () => load.acknowledged.size >= 100);
      await load.settle();
      await outage.begin();
      const beganAt = performance.now();
      const answers: Answered[] = [];
      const isServed = async () => {
        answers.push(await client.send('/v1/toys'));
        return answers.at(-1)?.status === 200;
      };
      await eventually('served', isServed, 60_000);
      expect(performance.now() - beganAt).toBeLessThan(HEALED_WITHIN_MS);
      expect(Math.max(...answers.map(tookMs))).toBeLessThan(ANSWERED_WITHIN_MS);
    } finally {
      load.abandon();
      client.close();
      await gateway.kill('SIGKILL');
      await outage.cleanUp();
    }
  },
);

function tookMs({ sentAt, answeredAt }: Answered): number {
  return answeredAt - sentAt;
}

/** Polls `/readyz` and `/healthz` until it is stopped. */
function watch(gateway: GatewayProcess) {
  const readiness: Answered[] = [];
  const liveness: Answered[] = [];
  let isStopping = false;
  const ask = async (path: string, answers: Answered[]) => {
    const client = new KeepAliveClient(gateway.url, '');
    const isDone = async () => {
      answers.push(await client.send(path));
      return isStopping;
    };
    await eventually('told to stop', isDone, LONGEST_MS);
    client.close();
  };
  const loops = [ask('/readyz', readiness), ask('/healthz', liveness)];
  return {
    readiness,
    liveness,
    stop: async () => {
      isStopping = true;
      await Promise.all(loops);
    },
  };
}

async function networkOutage(fault: Fault): Promise<Outage> {
  const database = await createTestDatabase('mysql');
  const url = new URL(database.url);
  const proxy = await startFaultProxy(Number(url.port));
  url.port = String(proxy.port);
  return {
    databaseUrl: url.href,
    begin: () => proxy.set(fault),
    end: () => proxy.set('pass'),
    cleanUp: async () => {
      await proxy.stop();
      await database.remove();
    },
  };
}

async function serverOutage(
  signal: 'SIGKILL' | 'SIGSTOP',
  end: (server: SqlServer) => Promise<void>,
): Promise<Outage> {
  const server = await startMysql();
  const connection = await createConnection(server.url);
  await connection.query('CREATE DATABASE petstore');
  await connection.end();
  return {
    databaseUrl: `${server.url}/petstore`,
    begin: () => server.kill(signal),
    end: () => end(server),
    cleanUp: () => server.stop(),
  };
}
