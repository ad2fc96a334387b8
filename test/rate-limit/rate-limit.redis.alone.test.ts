import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { connectRedis } from '../../src/ground/redis/redis-connection.js';
import { MemoryLimiter } from '../../src/request/rate-limit/memory/memory-limiter.js';
import { RedisLimiter } from '../../src/request/rate-limit/redis/redis-limiter.js';
import { ResilientLimiter } from '../../src/request/rate-limit/redis/resilient-limiter.js';
import { type BanRecord, banStatus, NO_RECORD } from '../../src/request/rate-limit/rules/bans.js';
import type { Charge, Decision, Refused } from '../../src/request/rate-limit/rules/limiter.js';
import { eventually } from '../support/eventually.js';
import { charge, DAY_MS, HOUR_MS, hammer, MINUTE_MS, NOON_MS } from '../support/limiter/charges.js';
import { backsOff, repeats, run } from '../support/limiter/clients.js';
import type { ChargeOrder } from '../support/limiter/limiter-process.js';
import { inOwnTicks } from '../support/own-time.js';
import { freePort } from '../support/servers/daemon.js';
import { type RedisServer, startRedis } from '../support/servers/redis.js';

let subjects = 0;
const newSubject = () => {
  subjects += 1;
  return `project:${process.pid}-${subjects}`;
};

describe('with Redis', () => {
  let server: RedisServer;
  let redis: Redis;
  beforeAll(async () => {
    server = await startRedis();
    redis = (await connectRedis(server.url)) as Redis;
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  test('Limits-Redis-1: any sequence of requests is decided in Redis as in memory', async () => {
    const quotas = [
      { perMinute: 4, perDay: 30 },
      { perMinute: 9, perDay: null },
      { perMinute: 5, perDay: 5 },
      { perMinute: 2, perDay: 8 },
      { perMinute: 0, perDay: 1 },
    ];
    const allowances = [
      { name: 'management:1', perMinute: 3, perDay: null, cost: 1 },
      { name: 'management:1', perMinute: 3, perDay: null, cost: 2 },
      { name: 'schema', perMinute: 2, perDay: null, cost: 1 },
    ];
    const jump = fc.oneof(
      { weight: 6, arbitrary: fc.nat(1_500) },
      { weight: 2, arbitrary: fc.nat(2 * MINUTE_MS) },
      { weight: 1, arbitrary: fc.integer({ min: -MINUTE_MS, max: 0 }) },
      { weight: 1, arbitrary: fc.constantFrom(HOUR_MS, 2.5 * HOUR_MS, DAY_MS) },
      // A clock that was ahead is set right.
      { weight: 1, arbitrary: fc.constantFrom(-HOUR_MS - MINUTE_MS, -DAY_MS) },
    );
    const step = fc.record({
      jump,
      cost: fc.integer({ min: 0, max: 3 }),
      quota: fc.constantFrom(...quotas),
      keyId: fc.constantFrom('1', '1', '1', '2', null),
      allowance: fc.constantFrom(undefined, undefined, ...allowances),
      act: fc.constantFrom('charge', 'charge', 'charge', 'charge', 'charge', 'peek', 'unban'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 120 }), async (steps) => {
        let now = NOON_MS;
        const shared = new RedisLimiter(redis, { now: () => now });
        const local = new MemoryLimiter(() => now);
        const subject = newSubject();
        for (const { jump: byMs, act, ...given } of steps) {
          now += byMs;
          const allowance = given.keyId === null ? undefined : given.allowance;
          const cost = Math.max(given.cost, allowance ? 0 : 1);
          const request = charge({ ...given, cost, allowance, subject });
          if (act === 'charge') expect(await shared.charge(request)).toEqual(local.charge(request));
          if (act === 'peek') expect(await shared.peek(request)).toEqual(local.peek(request));
          if (act === 'unban') {
            await shared.unban({ subject, keyId: '1' });
            local.unban({ keyId: '1' });
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  test('Limits-Redis-18: an admission before a strike of a clock that was ahead forgets it in Redis as in memory', async () => {
    let now = NOON_MS;
    const shared = new RedisLimiter(redis, { now: () => now });
    const local = new MemoryLimiter(() => now);
    const subject = newSubject();
    const once = charge({
      quota: { perMinute: 1, perDay: 30 },
      keyId: '1',
      cost: 1,
      subject,
    });
    for (const byMs of [0, 0, 0, -DAY_MS, DAY_MS + MINUTE_MS, 0]) {
      now += byMs;
      expect(await shared.charge(once)).toEqual(local.charge(once));
    }
  });

  test.each([
    ['hammers', repeats(90)],
    ['repeats every two seconds', repeats(1_950)],
    ['backs off', backsOff({ factor: 1.5, jitter: 'full' })],
  ] as const)(
    'Limits-Redis-19: a client that %s gets its strikes in Redis as in memory',
    async (_, client) => {
      for (const [instances, perMinute, perDay] of [
        [1, 20, 0],
        [8, 20, null],
      ] as const) {
        const clock = { now: NOON_MS };
        const local = new MemoryLimiter(() => clock.now);
        const shared = new RedisLimiter(redis, { now: () => clock.now });
        const inBoth = {
          async charge(request: Charge) {
            const decision = local.charge(request);
            expect(await shared.charge(request)).toEqual(decision);
            return decision;
          },
        };
        const request = charge({ subject: newSubject(), quota: { perMinute, perDay } });
        const days = { startWithinMs: 3_000, againMs: 500, restartMs: null, lastsMs: 3 * MINUTE_MS, seed: 1 };
        await run(inBoth, clock, request, { client, instances, ...days });
      }
    },
  );

  test('Limits-Redis-20: a record of the version before this one keeps its strikes and its steps', async () => {
    const clock = { now: NOON_MS };
    const limiter = new RedisLimiter(redis, { now: () => clock.now });
    for (const connection of ['', 'a connection']) {
      const request = charge({ subject: newSubject(), quota: { perMinute: 60, perDay: 0 } });
      const [refusedAtMs, retryAtMs] = [clock.now - 5_000, clock.now + DAY_MS / 2];
      const record = `9 1 ${refusedAtMs} 0 ${refusedAtMs} ${retryAtMs} ${connection}`;
      await redis.set(`petstore:rate:{${request.subject}}:ban:1`, record);
      expect((await limiter.peek(request)).ban).toMatchObject({ strikes: 9, nextStepMinutes: 5 });
      expect(await limiter.charge(request)).toMatchObject({ strike: null, ban: { strikes: 9 } });
      expect(await hammer(limiter, clock, request)).toMatchObject({ code: 'key_banned', strike: 10 });
    }
  });

  test('Limits-Redis-2: three processes that share Redis admit exactly the quota, twenty times', async () => {
    const processes = await Promise.all(Array.from({ length: 3 }, () => startLimiterProcess(server.url)));
    try {
      for (let rounds = 0; rounds < 20; ) {
        const subject = newSubject();
        const startedIn = await minuteOf(redis);
        const order = { subject, requests: 500, perMinute: 300 };
        const admitted = await Promise.all(processes.map((child) => chargeIn(child, order)));
        // A round cut by the minute's end, or by a Redis that got no processor time, does not count.
        if ((await minuteOf(redis)) !== startedIn || admitted.includes(-1)) continue;
        rounds += 1;
        expect(admitted.reduce((sum, count) => sum + count, 0)).toBe(300);
      }
    } finally {
      for (const child of processes) child.kill();
    }
  });

  test('Limits-Redis-3: a decision is one command, its keys share a hash slot and expire', async () => {
    const limiter = new RedisLimiter(redis);
    const subject = newSubject();
    const request = charge({ subject, quota: { perMinute: 1, perDay: 9 } });
    await limiter.charge(request);
    await redis.config('RESETSTAT');
    for (let sent = 0; sent < 5; sent += 1) await limiter.charge(request);
    const stats = await redis.info('commandstats');
    const commandsByClients = /cmdstat_evalsha:calls=5,/.test(stats) && !/cmdstat_eval:/.test(stats);
    expect(commandsByClients).toBe(true);
    const keys = await redis.keys(`*${subject}*`);
    expect(keys).toHaveLength(2);
    for (const key of keys) {
      expect(key).toContain(`{${subject}}`);
      const ttlMs = await redis.pttl(key);
      expect(ttlMs).toBeGreaterThan(0);
      expect(ttlMs).toBeLessThanOrEqual(DAY_MS + MINUTE_MS);
    }
  });

  test('Limits-Redis-4: the clock of Redis decides, not that of the process', async () => {
    const limiter = new RedisLimiter(redis);
    const decision = await limiter.charge(charge({ subject: newSubject() }));
    const [seconds] = (await redis.time()).map(Number);
    expect(Math.abs(decision.atMs / 1000 - (seconds ?? 0))).toBeLessThan(5);
  });

  describe('expiry, by the clock of Redis', () => {
    const clock = { now: NOON_MS };
    const ttlOf = (subject: string, keyId: string | null) =>
      redis.pttl(`petstore:rate:{${subject}}${keyId === null ? '' : `:ban:${keyId}`}`);

    test('Limits-Redis-11: a day quota that a project gets later counts what was spent before, until midnight', async () => {
      clock.now = NOON_MS;
      const limiter = new RedisLimiter(redis, { now: () => clock.now });
      const subject = newSubject();
      const send = (perDay: number | null) =>
        limiter.charge(charge({ subject, quota: { perMinute: 10, perDay } }));
      await send(null);
      expect(await send(5)).toMatchObject({ day: { remaining: 3 } });
      clock.now += 2 * MINUTE_MS;
      expect(await send(5)).toMatchObject({ day: { remaining: 2 } });
      const untilMidnightMs = DAY_MS / 2 + MINUTE_MS;
      const ttlMs = await ttlOf(subject, null);
      expect(ttlMs).toBeGreaterThan(untilMidnightMs - MINUTE_MS);
      expect(ttlMs).toBeLessThanOrEqual(untilMidnightMs);
    });

    test('Limits-Redis-12: the windows of an address are kept for two minutes at most', async () => {
      const subject = `address:${newSubject()}`;
      const quota = { perMinute: 10, perDay: null };
      await new RedisLimiter(redis, { now: () => NOON_MS }).charge(charge({ subject, quota, keyId: null }));
      expect(await ttlOf(subject, null)).toBeLessThanOrEqual(2 * MINUTE_MS);
    });

    test('Limits-Redis-13: strikes and ladder steps outlive the ban by an hour each', async () => {
      clock.now = NOON_MS;
      const limiter = new RedisLimiter(redis, { now: () => clock.now });
      const subject = newSubject();
      const request = charge({ subject, quota: { perMinute: 0, perDay: null } });
      const ends: number[] = [];
      const recordTtl = async () => Math.round((await ttlOf(subject, '1')) / MINUTE_MS) - 1;
      await hammer(limiter, clock, request, 3);
      expect(await recordTtl()).toBe(60);
      for (const banMinutes of [1, 5, 30]) {
        await hammer(limiter, clock, request);
        ends.push((await recordTtl()) - banMinutes);
        clock.now += banMinutes * MINUTE_MS;
      }
      expect(ends).toEqual([60, 120, 180]);
    });

    test('Limits-Redis-15: each quiet hour forgets one step of the ladder, not all of them', async () => {
      clock.now = NOON_MS;
      const limiter = new RedisLimiter(redis, { now: () => clock.now });
      const subject = newSubject();
      const request = charge({ subject, quota: { perMinute: 0, perDay: null } });
      for (const banMinutes of [1, 5, 30]) {
        await hammer(limiter, clock, request);
        clock.now += banMinutes * MINUTE_MS;
      }
      clock.now += 120 * MINUTE_MS;
      expect(await limiter.charge(request)).toMatchObject({ ban: { strikes: 0, nextStepMinutes: 5 } });
    });
  });

  test('Limits-Redis-14: a clock set back over midnight opens no day again', async () => {
    let now = NOON_MS + DAY_MS / 2 + 5_000;
    const limiter = new RedisLimiter(redis, { now: () => now });
    const request = charge({ subject: newSubject(), quota: { perMinute: 100, perDay: 3 } });
    for (let sent = 0; sent < 3; sent += 1) await limiter.charge(request);
    now -= 10_000;
    expect(await limiter.charge(request)).toMatchObject({ code: 'rate_limited_day', day: { remaining: 0 } });
    now += 10_000;
    expect(await limiter.charge(request)).toMatchObject({ code: 'rate_limited_day', day: { remaining: 0 } });
  });

  test('Limits-Redis-17: a ban and a spent day of a clock that was a day ahead block nobody afterwards', async () => {
    const clock = { now: NOON_MS + DAY_MS };
    const limiter = new RedisLimiter(redis, { now: () => clock.now });
    const request = charge({ subject: newSubject(), quota: { perMinute: 100, perDay: 3 } });
    await hammer(limiter, clock, request);
    expect(await limiter.charge(request)).toMatchObject({ code: 'key_banned' });
    clock.now -= DAY_MS;
    expect(await limiter.charge(request)).toMatchObject({ admitted: true, ban: { untilSeconds: null } });
    const [ban] = (await limiter.bans(request.subject, ['1'])).values();
    expect(banStatus(ban as BanRecord, clock.now)).toEqual(banStatus(NO_RECORD, clock.now));
  });

  test("Limits-Redis-5: a bare limiter rejects with SharedCountersAway, never with the connection's error", async () => {
    const nowhere = await connectRedis('redis://127.0.0.1:1');
    const limiter = new RedisLimiter(nowhere);
    await expect(limiter.charge(charge())).rejects.toMatchObject({ name: 'SharedCountersAway' });
    expect(await limiter.problem()).not.toBeNull();
    await limiter.close();
  });
});

describe('when Redis goes away', () => {
  const away: [string, (server: RedisServer) => Promise<void>, (server: RedisServer) => Promise<void>][] = [
    ['killed', (server) => server.kill('SIGKILL'), (server) => server.restart()],
    ['frozen', (server) => server.kill('SIGSTOP'), (server) => server.kill('SIGCONT')],
    ['full', (server) => configure(server, '1'), (server) => configure(server, '0')],
    [
      'a replica',
      (server) => replicate(server, '127.0.0.1', '1'),
      (server) => replicate(server, 'NO', 'ONE'),
    ],
  ];

  test.each(away)(
    'Limits-Redis-6: %s: 100 ms at most, then local decisions, one log line, and shared again in 5 s',
    async (_, end, heal) => {
      const { server, limiter, log, stop } = await startResilient();
      try {
        const subject = newSubject();
        const quota = { perMinute: 1_000, perDay: 10_000 };
        const request = charge({ subject, quota });
        for (let sent = 0; sent < 3; sent += 1) await limiter.charge(request);
        await end(server);

        const decide = () => Promise.all(Array.from({ length: 200 }, async () => limiter.charge(request)));
        // A stall of this process itself is not counted.
        const { result: decisions, tookMs } = await inOwnTicks(decide);
        expect(tookMs).toBeLessThanOrEqual(100);
        expect(decisions.every(({ admitted }) => admitted)).toBe(true);
        expect(limiter.isDegraded).toBe(true);
        expect(limiter.charge(request)).not.toBeInstanceOf(Promise);
        expect(log).toEqual(['warn: Redis is unavailable: each process limits alone']);

        await heal(server);
        await eventually('shared counting is back', () => !limiter.isDegraded, 10_000);
        expect((await limiter.charge(request)).admitted).toBe(true);
        expect(limiter.isDegraded).toBe(false);
        expect(log.slice(1)).toEqual(['info: Redis is back: limits are shared again']);
        expect(limiter.counts.outages).toBe(1);
      } finally {
        await stop();
      }
    },
  );

  test('Limits-Redis-7: a Redis restarted empty is used again without an error for the client', async () => {
    const { server, limiter, log, stop } = await startResilient();
    try {
      await limiter.charge(charge());
      await server.restart();
      await eventually(
        'shared counting is back',
        async () => (await limiter.charge(charge())).admitted && !limiter.isDegraded,
      );
      expect(log.length).toBeLessThanOrEqual(2);
    } finally {
      await stop();
    }
  });

  test('Limits-Redis-8: without Redis a process continues from the shared counts, and no ban is lifted', async () => {
    const { server, limiter, stop } = await startResilient();
    try {
      const subject = newSubject();
      const quota = { perMinute: 100_000, perDay: 40 };
      const request = charge({ subject, quota });
      for (let sent = 0; sent < 30; sent += 1) await limiter.charge(request);
      const banned = charge({ subject: newSubject(), keyId: 'banned', quota: { perMinute: 0, perDay: 0 } });
      const refuse = async () => (await limiter.charge(banned)) as Refused;
      await eventually('the key is banned', async () => (await refuse()).code === 'key_banned');
      await server.kill('SIGKILL');
      const decisions: Decision[] = [];
      for (let sent = 0; sent < 20; sent += 1) decisions.push(await limiter.charge(request));
      expect(decisions.filter(({ admitted }) => admitted)).toHaveLength(10);
      expect(await limiter.charge(banned)).toMatchObject({ code: 'key_banned' });
    } finally {
      await stop();
    }
  });

  test('Limits-Redis-9: a pause of the process itself is not taken for an outage of Redis', async () => {
    const { limiter, stop } = await startResilient();
    try {
      await limiter.charge(charge());
      const waiting = limiter.charge(charge());
      const deadline = performance.now() + 300;
      while (performance.now() < deadline);
      expect((await waiting).admitted).toBe(true);
      expect(limiter.counts).toEqual({ outages: 0, localDecisions: 0 });
    } finally {
      await stop();
    }
  });

  test('Limits-Redis-10: a Redis that answers one request per 50 ms delays no request behind a queue', async () => {
    const slow = await startSlowRedis(50);
    const { limiter, stop } = await resilientOn(slow);
    try {
      const decide = () => Promise.all(Array.from({ length: 100 }, async () => limiter.charge(charge())));
      const { tookMs } = await inOwnTicks(decide);
      expect(tookMs).toBeGreaterThan(100);
      expect(tookMs).toBeLessThanOrEqual(600);
      expect(limiter.isDegraded).toBe(true);
    } finally {
      await stop();
    }
  });
});

/** Starts a server that answers each command, one at a time, with an admitted charge. */
async function startSlowRedis(everyMs: number) {
  const listener = createServer((client) => {
    let waiting = 0;
    const answer = () => {
      if (waiting === 0) return;
      waiting -= 1;
      client.write(`*8\r\n:${Date.now()}\r\n${':0\r\n'.repeat(5)}+\r\n+\r\n`);
    };
    const timer = setInterval(answer, everyMs);
    client.on('data', (bytes) => {
      waiting += bytes.toString().split('evalsha').length - 1;
    });
    client.on('error', () => {}).on('close', () => clearInterval(timer));
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as { port: number };
  const stop = async () => void listener.close();
  return { url: `redis://127.0.0.1:${port}`, stop };
}

async function startResilient() {
  const server = await startRedis();
  return { server, ...(await resilientOn(server)) };
}

async function resilientOn(server: Pick<RedisServer, 'url' | 'stop'>) {
  const log: string[] = [];
  const note = (level: string) => (_: object, message: string) => log.push(`${level}: ${message}`);
  const local = new MemoryLimiter(Date.now);
  const shared = new RedisLimiter(await connectRedis(server.url), { mirror: local });
  const limiter = new ResilientLimiter(shared, local, { info: note('info'), warn: note('warn') });
  const stop = async () => {
    await limiter.close();
    await server.stop();
  };
  return { limiter, log, stop };
}

async function startLimiterProcess(url: string): Promise<ChildProcess> {
  const child = fork('dist/test/support/limiter/limiter-process.js', [url]);
  await once(child, 'message');
  return child;
}

async function chargeIn(child: ChildProcess, order: ChargeOrder): Promise<number> {
  const answer = once(child, 'message');
  child.send(order);
  return (await answer)[0] as number;
}

async function minuteOf(redis: Redis): Promise<number> {
  return Math.floor(Number((await redis.time())[0]) / 60);
}

async function onServer(server: RedisServer, work: (redis: Redis) => Promise<unknown>): Promise<void> {
  const redis = new Redis(server.url);
  await work(redis);
  redis.disconnect();
}

const configure = (server: RedisServer, maxmemory: string) =>
  onServer(server, (redis) => redis.config('SET', 'maxmemory', maxmemory));
const replicate = (server: RedisServer, host: string, port: string) =>
  onServer(server, (redis) => redis.replicaof(host, port));

describe('with a Redis Cluster of two nodes', () => {
  let nodes: RedisServer[];
  beforeAll(async () => {
    nodes = await Promise.all(
      [1, 2].map(async () =>
        startRedis({ args: ['--cluster-enabled', 'yes', '--cluster-port', String(await freePort())] }),
      ),
    );
    const [first, second] = nodes.map(({ url }) => new Redis(url)) as [Redis, Redis];
    await first.call('CLUSTER', 'ADDSLOTSRANGE', '0', '8191');
    await second.call('CLUSTER', 'ADDSLOTSRANGE', '8192', '16383');
    const { port } = new URL(nodes[1]?.url ?? '');
    const [, busPort = ''] =
      /cluster-port (\d+)/.exec(
        String((await second.config('GET', 'cluster-port')) as string[]).replace(',', ' '),
      ) ?? [];
    await first.call('CLUSTER', 'MEET', '127.0.0.1', port, busPort);
    await eventually(
      'the cluster',
      async () =>
        (await Promise.all([first, second].map((node) => node.call('CLUSTER', 'INFO')))).every((info) =>
          String(info).includes('cluster_state:ok'),
        ),
      30_000,
    );
    first.disconnect();
    second.disconnect();
  }, 60_000);
  afterAll(() => Promise.all(nodes.map((node) => node.stop())));

  test('Limits-24: all keys of a project are in one slot, so both nodes decide, exactly', async () => {
    const redis = await connectRedis(`${nodes[0]?.url}?cluster=true`);
    const limiter = new RedisLimiter(redis);
    try {
      expect(await limiter.problem()).toBeNull();
      for (let project = 0; project < 20; project += 1) {
        const subject = newSubject();
        const quota = { perMinute: 5, perDay: 100 };
        const asked = Array.from({ length: 12 }, () =>
          limiter.charge(charge({ subject, keyId: '1', quota })),
        );
        expect((await Promise.all(asked)).filter(({ admitted }) => admitted)).toHaveLength(5);
      }
    } finally {
      await limiter.close();
    }
  });

  test('Limits-25: one node of a cluster that is configured as a single server is reported', async () => {
    const limiter = new RedisLimiter(await connectRedis(nodes[0]?.url ?? ''));
    const problems = await Promise.all([limiter.problem()]);
    await limiter.close();
    for (const problem of problems) expect(problem === null || problem.startsWith('MOVED')).toBe(true);
  });
});
