import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { loadConfig } from '../../../src/ground/config/config.js';
import { Database } from '../../../src/ground/database/database.js';
import { connectRedis, type RedisConnection } from '../../../src/ground/redis/redis-connection.js';
import { RedisLimiter } from '../../../src/request/rate-limit/redis/redis-limiter.js';
import { projectSubject } from '../../../src/request/rate-limit/rules/subjects.js';
import { startRedisImpostor } from '../../support/attacks/redis-impostor.js';
import { openLogOf } from '../../support/changes/open-log.js';
import { FOLLOW, openStream } from '../../support/changes/stream-client.js';
import { petstore } from '../../support/command-line.js';
import { createTestDatabase, sharedDatabase, type TestDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { createServices, DATABASE_SCHEMA, SCOPES } from '../../support/gateway/tested-gateway.js';
import { createTenant, type GatewayProcess, startGateway } from '../../support/gateway-process.js';
import { rest } from '../../support/http/client.js';
import { charge, hammer } from '../../support/limiter/charges.js';
import {
  MASTER,
  order,
  portOf,
  type RedisServer,
  startRedis,
  startSentinel,
  startWatchedRedis,
  type WatchedRedis,
} from '../../support/servers/redis.js';

const DEGRADED = 'each process limits alone';
const IS_BACK = 'limits are shared again';
/** From the moment that the Sentinels have a new master. */
const BACK_WITHIN_MS = 5_000;
const PER_DAY = 100;
/** Of each second's look, with patience for a slow machine. */
const LOOK_MS = 5_000;

const closed: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closed.reverse()) await close();
});

describe('two gateways whose Redis has three Sentinels', () => {
  let redis: WatchedRedis;
  let database: TestDatabase;
  let gateways: GatewayProcess[];
  beforeAll(async () => {
    [redis, database] = await Promise.all([startWatchedRedis(), createTestDatabase(sharedDatabase())]);
    const env = { DATABASE_URL: database.url, REDIS_URL: redis.url, LOG_LEVEL: 'info', REQUEST_LOG: 'off' };
    gateways = [await startGateway({ env }), await startGateway({ env })];
    closed.push(
      () => redis.stop(),
      () => database.remove(),
      () => Promise.all(gateways.map((gateway) => gateway.kill('SIGKILL'))),
    );
  }, 120_000);

  /** Its quota is `PER_DAY`. */
  async function tenant(slug: string) {
    const db = await Database.open(loadConfig({ DATABASE_URL: database.url }).database, DATABASE_SCHEMA);
    const { projects, apiKeys } = createServices(db, Date.now);
    const actor = { name: 'test', requestId: null };
    const quota = { perMinute: 1_000_000, perDay: PER_DAY };
    const project = await projects.create(actor, { slug, name: null, plan: 'ENTERPRISE', ...quota });
    const wanted = { projectId: project.id, name: 'x', scopes: SCOPES, expiresAtMs: null };
    const { token, key } = await apiKeys.create(actor, wanted);
    await db.close();
    return { token, projectId: project.id, keyId: String(key.id) };
  }

  const list = (at: number, token: string) => rest(String(gateways[at % 2]?.url), '/v1/toys', { token });
  const create = (at: number, token: string, name: string) =>
    rest(String(gateways[at % 2]?.url), '/v1/toys', { method: 'POST', token, body: { name, categoryId: 1 } });
  const times = (text: string) =>
    gateways.reduce((sum, gateway) => sum + gateway.output().split(text).length - 1, 0);
  const areTogether = () => times(DEGRADED) === times(IS_BACK);

  async function banned(slug: string) {
    const { token, projectId, keyId } = await tenant(slug);
    const clock = { now: Date.now() - 10_000 };
    const limiter = new RedisLimiter(await connectRedis(redis.url), { now: () => clock.now });
    const quota = { perMinute: 1, perDay: 1 };
    await hammer(limiter, clock, charge({ subject: projectSubject(projectId), keyId, quota }));
    await limiter.close();
    return token;
  }

  /** Runs `fault` while three projects send requests to both gateways without a pause. */
  async function underLoad(name: string, fault: () => Promise<void>) {
    const ban = await banned(`${name}-banned`);
    const [spent, half] = await Promise.all([tenant(`${name}-spent`), tenant(`${name}-half`)]);
    const writer = await createTenant(database.url);
    // Units that a process spent alone, because the machine was busy, are not in Redis.
    await eventually('a spent quota', async () => (await list(0, spent.token)).status === 429, 30_000, 1);
    expect((await list(1, spent.token)).status).toBe(429);
    for (let at = 0; at < PER_DAY / 2; at += 1) await list(at, half.token);
    const seen = {
      ban: new Set<string>(),
      spent: new Set<number>(),
      writer: new Set<number>(),
      half: PER_DAY / 2,
    };
    for (let at = 0; at < 2; at += 1) seen.ban.add((await list(at, ban)).body.code);
    let isOver = false;
    const repeatedly = async (send: (at: number) => Promise<void>) => {
      for (let at = 0; !isOver; at += 1) await send(at);
    };
    const load = Promise.all([
      repeatedly(async (at) => void seen.ban.add((await list(at, ban)).body.code)),
      repeatedly(async (at) => void seen.spent.add((await list(at, spent.token)).status)),
      repeatedly(async (at) => {
        if ((await list(at, half.token)).status === 200) seen.half += 1;
      }),
      repeatedly(async (at) => void seen.writer.add((await create(at, writer, `Toy ${at}`)).status)),
      repeatedly(async (at) => void seen.writer.add((await list(at, writer)).status)),
    ]);
    await fault().finally(() => {
      isOver = true;
    });
    await load;
    expect([...seen.ban]).toEqual(['key_banned']);
    expect([...seen.spent]).toEqual([429]);
    expect([...seen.writer].sort()).toEqual([200, 201]);
    // At most a quota in Redis, and one in each process while it counts alone.
    expect(seen.half).toBeLessThanOrEqual(3 * PER_DAY);
  }

  async function signalsArriveAtOnce() {
    const token = await createTenant(database.url);
    await openLogOf(database.url, token);
    const stream = await openStream(String(gateways[0]?.url), { token, query: FOLLOW });
    const delays: number[] = [];
    for (let at = 0; at < 10; at += 1) {
      await create(1, token, `Toy ${at}`);
      const sinceMs = performance.now();
      await stream.received(at + 1);
      delays.push(performance.now() - sinceMs);
    }
    stream.close();
    delays.sort((one, other) => one - other);
    // Without signals a process looks every 300 ms, and each toy follows directly upon such a look.
    expect(delays[5]).toBeLessThan(250);
    for (let at = 0; at < 10; at += 1) {
      const name = `Live ${at}`;
      await create(at, token, name);
      const { body } = await list(at + 1, token);
      expect(body.map((toy: { name: string }) => toy.name)).toContain(name);
    }
  }

  test('Sentinel-1: after kill -9 of the master no request fails, no ban ends, no spent quota returns, and the gateways share limits again', async () => {
    const old = await redis.master();
    let backMs = 0;
    await underLoad('killed', async () => {
      const before = times(IS_BACK);
      await old.kill('SIGKILL');
      await eventually('another master', async () => (await redis.master()) !== old);
      const sinceMs = performance.now();
      await eventually('shared limits', () => times(IS_BACK) >= before + 2 && areTogether());
      backMs = performance.now() - sinceMs;
      await old.restart();
      await eventually('the old master is a replica', async () => {
        const [role] = (await order(old.url, 'ROLE')) as string[];
        return role === 'slave';
      });
      await eventually('shared limits', areTogether);
    });
    expect(backMs).toBeLessThan(BACK_WITHIN_MS);
    expect(await redis.master()).not.toBe(old);
    await signalsArriveAtOnce();
  }, 60_000);

  test('Sentinel-2: with a full Redis no request fails, and the gateways share limits again when it has memory', async () => {
    const { url } = await redis.master();
    await underLoad('full', async () => {
      const before = times(DEGRADED);
      await order(url, 'CONFIG', 'SET', 'maxmemory', '1');
      await eventually('both count alone', () => times(DEGRADED) >= before + 2);
      await order(url, 'CONFIG', 'SET', 'maxmemory', '0');
      await eventually('shared limits', areTogether, BACK_WITHIN_MS);
    });
    await signalsArriveAtOnce();
  }, 60_000);

  test('Sentinel-3: doctor names the master and its address', async () => {
    const { stdout } = await petstore(['doctor'], {
      databaseUrl: database.url,
      env: { REDIS_URL: redis.url },
    });
    const port = portOf((await redis.master()).url);
    expect(stdout).toContain(`the master ${MASTER} at 127.0.0.1:${port}, by Sentinel counts the quotas`);
  });
});

describe('one connection', () => {
  let servers: RedisServer[];
  let redis: WatchedRedis;
  beforeAll(async () => {
    [servers, redis] = await Promise.all([Promise.all([startRedis(), startRedis()]), startWatchedRedis()]);
    closed.push(() => Promise.all([...servers, redis].map((server) => server.stop())));
  }, 60_000);

  const opened = async (url: string, isSubscriber = false): Promise<RedisConnection> => {
    const connection = await connectRedis(url, { isSubscriber });
    closed.push(() => connection.disconnect());
    return connection;
  };
  const placeOf = async (connection: RedisConnection) =>
    /tcp_port:(\d+)/.exec(String(await connection.call('INFO', 'server')))?.[1];

  test('Sentinel-4: a connection leaves a server that has become a replica, at the first write that it refuses', async () => {
    const [first, second] = servers as [RedisServer, RedisServer];
    const connection = await opened(first.url);
    await order(first.url, 'REPLICAOF', '127.0.0.1', portOf(second.url));
    const hasLeft = new Promise((resolve) => connection.once('close', resolve));
    await expect(connection.set('a', 'b')).rejects.toThrow('READONLY');
    await hasLeft;
    await order(first.url, 'REPLICAOF', 'NO', 'ONE');
    await eventually('it writes again', async () => (await connection.set('a', 'b')) === 'OK');
  });

  test('Sentinel-5: the newest configuration counts: a Sentinel that missed a failover is not believed', async () => {
    const old = await redis.master();
    await order(`redis://${redis.sentinels[0]}`, 'SENTINEL', 'FAILOVER', MASTER);
    const wanted = await eventually('another master', async () => {
      const now = await redis.master();
      return now !== old && portOf(now.url);
    });
    const late = await startSentinel(portOf(servers[1]?.url ?? ''));
    closed.push(() => late.stop());
    const connection = await opened(redis.url.replace('://', `://127.0.0.1:${late.port},`));
    expect(await placeOf(connection)).toBe(wanted);
  });

  test('Sentinel-6: connections leave a master that still answers but was replaced, subscribers too', async () => {
    const [writer, subscriber] = [await opened(redis.url), await opened(redis.url, true)];
    const old = await placeOf(writer);
    const other = redis.servers.find(({ url }) => portOf(url) !== old) as RedisServer;
    // Nobody tells the old master, as behind a cut network.
    const atEach = (...args: string[]) =>
      Promise.all(redis.sentinels.map((address) => order(`redis://${address}`, 'SENTINEL', ...args)));
    await atEach('REMOVE', MASTER);
    await atEach('MONITOR', MASTER, '127.0.0.1', portOf(other.url), '2');
    for (const connection of [writer, subscriber]) {
      await eventually(
        'the new master',
        async () => (await placeOf(connection)) === portOf(other.url),
        LOOK_MS,
      );
    }
  });

  test.each([
    ['unrequested null replies', Buffer.from('$-1\r\n'.repeat(20))],
    ['numbers', Buffer.from(':5\r\n'.repeat(20))],
    ['the answer of a web server', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['the end of the connection', 'hangs up' as const],
    ['silence', 'silence' as const],
  ])('Sentinel-7: %s from one Sentinel: the others lead to the master', async (_, answering) => {
    const impostor = await startRedisImpostor(servers[0]?.url ?? '');
    impostor.set(answering);
    const { port } = new URL(impostor.url);
    const startedMs = performance.now();
    const connection = await opened(redis.url.replace('://', `://127.0.0.1:${port},`));
    expect(performance.now() - startedMs).toBeLessThan(1_500);
    const sentinel = `redis://${redis.sentinels[0]}`;
    const [, wanted] = (await order(sentinel, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', MASTER)) as string[];
    expect(await placeOf(connection)).toBe(wanted);
    connection.disconnect();
    await impostor.stop();
  });

  test('Sentinel-8: without a Sentinel that knows the master, the reason names each of them', async () => {
    const [known = ''] = redis.sentinels;
    const limiter = new RedisLimiter(await connectRedis(`redis+sentinel://${known},127.0.0.1:1/unknown`));
    const reason = await limiter.problem();
    await limiter.close();
    expect(reason).toContain(`no Sentinel names the master unknown (${known}: ERR No such master`);
    expect(reason).toContain('127.0.0.1:1: ');
  });
});
