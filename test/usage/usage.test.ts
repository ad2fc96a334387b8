import { describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { createApp } from '../../src/app/app.js';
import { loadConfig } from '../../src/ground/config/config.js';
import { ChangeSequence } from '../../src/ground/database/change-sequence.entity.js';
import { Database } from '../../src/ground/database/database.js';
import { USAGE_WINDOWS } from '../../src/tenants/usage/buckets.js';
import { UsageService } from '../../src/tenants/usage/usage.service.js';
import { UsageCount } from '../../src/tenants/usage/usage-count.entity.js';
import { UsageCounters } from '../../src/tenants/usage/usage-counters.js';
import { databaseKinds } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { DATABASE_SCHEMA, GATEWAY } from '../support/gateway/tested-gateway.js';
import { graphql, rest } from '../support/http/client.js';
import { startFaultProxy } from '../support/http/fault-proxy.js';
import { DAY_MS, HOUR_MS, MINUTE_MS, NOON_MS } from '../support/limiter/charges.js';
import { onEachDatabase } from '../support/on-databases.js';
import { startApp } from '../support/start-app.js';
import { countedRequest } from '../support/usage/counted-request.js';
import { pointsOf } from '../support/usage/usage-reports.js';

const USAGE = (window: string) => `{ project { usage(window: ${window}) { points {
  at graphql { admitted refused } rest { admitted refused } } } } }`;

interface Point {
  at: string;
  graphql: { admitted: number; refused: number };
  rest: { admitted: number; refused: number };
}

async function usage(url: string, token: string, window: string): Promise<Point[]> {
  return (await graphql(url, USAGE(window), { token })).body.data.project.usage.points;
}

const ZERO = { admitted: 0, refused: 0 };

onEachDatabase(
  (app) => {
    const list = (token: string, url = app().url) => rest(url, '/v1/toys', { token });

    test('Usage-1: admitted and refused requests of both doors are counted, and minutes without requests are zero', async () => {
      const { token, slug } = await app().tenant();
      const quota = { plan: 'ENTERPRISE', perMinute: 3, perDay: 1_000 } as const;
      await app().app.services.projects.change({ name: 'test', requestId: null }, slug, quota);
      app().clock.now = NOON_MS + HOUR_MS;
      for (let sent = 0; sent < 2; sent += 1) await list(token);
      await graphql(app().url, '{ toys { nodes { id } } }', { token });
      await list(token);
      await graphql(app().url, '{ toys { nodes { id } } }', { token });
      // Neither counts: a request without a valid key, and a free request.
      await list('pk_unknown');
      await rest(app().url, '/v1/rate_limit', { token });
      app().clock.now += 2 * MINUTE_MS + 59_999;

      const minutes = await usage(app().url, token, 'HOUR');
      expect(minutes).toHaveLength(60);
      const start = NOON_MS + HOUR_MS + 2 * MINUTE_MS;
      expect(minutes.map(({ at }) => Date.parse(at))).toEqual(
        Array.from({ length: 60 }, (_, index) => start - (59 - index) * MINUTE_MS),
      );
      expect(minutes[57]).toMatchObject({
        graphql: { admitted: 1, refused: 1 },
        rest: { admitted: 2, refused: 1 },
      });
      for (const { graphql, rest } of minutes.filter((_, index) => index !== 57)) {
        expect([graphql, rest]).toEqual([ZERO, ZERO]);
      }

      const days = await usage(app().url, token, 'MONTH');
      expect(days).toHaveLength(30);
      expect(days.at(-1)).toEqual({
        at: new Date(NOON_MS - 12 * HOUR_MS).toISOString(),
        graphql: { admitted: 2, refused: 1 },
        rest: { admitted: 2, refused: 1 },
      });
      expect(Date.parse(days[0]?.at ?? '')).toBe(NOON_MS - 12 * HOUR_MS - 29 * DAY_MS);
      expect(days.slice(0, -1).every(({ rest }) => rest.admitted === 0)).toBe(true);
    });

    test('Usage-2: the counts of two processes on one database add up', async () => {
      const { token, projectId } = await app().tenant();
      const otherDb = await Database.open(app().config.database, DATABASE_SCHEMA);
      const other = await createApp({
        gateway: GATEWAY,
        config: app().config,
        db: otherDb,
        logger: pino({ level: 'silent' }),
        now: () => app().clock.now,
      });
      const { base } = await other.listen();
      try {
        for (let round = 1; round <= 3; round += 1) {
          for (let sent = 0; sent < 5; sent += 1) {
            await list(token);
            await list(token, base);
          }
          await Promise.all([app().app.services.usage.flush(), other.services.usage.flush()]);
          for (const { services } of [app().app, other]) {
            const [point] = (await pointsOf(services, projectId, 'HOUR')).slice(-1);
            expect(point?.rest.admitted).toBe(round * 10);
          }
        }
      } finally {
        await other.http.close();
        await otherDb.close();
      }
    });

    test('Usage-3: a project sees only its own usage', async () => {
      const mine = await app().tenant();
      const theirs = await app().tenant();
      await list(theirs.token);
      await app().app.services.usage.flush();
      const points = await usage(app().url, mine.token, 'MONTH');
      expect(points.every(({ rest }) => rest.admitted === 0)).toBe(true);
    });

    test('Usage-4: requests during a flush are counted once each', async () => {
      const { token, projectId } = await app().tenant();
      const service = app().app.services.usage;
      let sent = 0;
      for (let round = 0; round < 10; round += 1) {
        const flushes = [service.flush(), list(token), pointsOf(app().app.services, projectId, 'HOUR')];
        sent += 1;
        await Promise.all([...flushes, service.flush()]);
      }
      const reads = await Promise.all(
        Array.from({ length: 20 }, async (_, at) => {
          if (at % 5 === 0) await service.flush();
          return (await pointsOf(app().app.services, projectId, 'HOUR')).reduce(
            (sum, { rest }) => sum + rest.admitted,
            0,
          );
        }),
      );
      expect(reads).toEqual(Array(20).fill(sent));
    });

    test('Usage-5: minutes are stored for two hours, hours for 48 hours, days for 35 days', async () => {
      const { projectId } = await app().tenant();
      const service = new UsageService(app().db, () => app().clock.now);
      const stored = async () => {
        const rows = await app().db.repository(UsageCount).findBy({ projectId, dimension: 'door' });
        return rows.map(({ bucket, admitted }) => `${bucket} ${admitted}`).sort();
      };
      const pass = async (ms: number) => {
        app().clock.now += ms;
        await service.deleteOldRows();
        return stored();
      };
      app().clock.now = Math.ceil(app().clock.now / DAY_MS) * DAY_MS;
      for (let back = 0; back < 3; back += 1) {
        service.count(countedRequest({ projectId, atMs: app().clock.now }));
        await service.flush();
        app().clock.now += MINUTE_MS;
      }
      expect(await stored()).toEqual(['day 3', 'hour 3', 'minute 1', 'minute 1', 'minute 1']);
      expect(await pass(2 * HOUR_MS - 2 * MINUTE_MS)).toEqual(['day 3', 'hour 3', 'minute 1']);
      expect(await pass(2 * MINUTE_MS)).toEqual(['day 3', 'hour 3']);
      expect(await pass(46 * HOUR_MS - 4 * MINUTE_MS)).toEqual(['day 3', 'hour 3']);
      expect(await pass(MINUTE_MS)).toEqual(['day 3']);
      expect(await pass(33 * DAY_MS - MINUTE_MS)).toEqual(['day 3']);
      expect(await pass(MINUTE_MS)).toEqual([]);
    });
  },
  { now: NOON_MS },
);

describe.each(databaseKinds())('on %s', (kind) => {
  test('Usage-6: a restart and a change of day lose no count', async () => {
    const app = await startApp({ kind, now: NOON_MS });
    const { token } = await app.tenant();
    await rest(app.url, '/v1/toys', { token });
    app.clock.now += DAY_MS;
    await rest(app.url, '/v1/toys', { token });
    await graphql(app.url, '{ project { slug } }', { token });
    const next = await app.restarted();
    try {
      const days = await usage(next.url, token, 'MONTH');
      expect(days.slice(-2)).toMatchObject([
        { rest: { admitted: 1 }, graphql: ZERO },
        { rest: { admitted: 1 }, graphql: { admitted: 1, refused: 0 } },
      ]);
      const [before] = (await usage(next.url, token, 'HOUR')).slice(-1);
      expect(before?.rest.admitted).toBe(1);
    } finally {
      await next.close();
      await app.stop();
    }
  });

  test('Usage-7: counts that could not be stored while the database was away are stored later, once', async () => {
    const app = await startApp({ kind, now: NOON_MS });
    const { projectId } = await app.tenant();
    let db = await Database.open(app.config.database, DATABASE_SCHEMA);
    const replaced = new Proxy({} as Database, {
      get: (_, name) => {
        const value = Reflect.get(db, name);
        return typeof value === 'function' ? value.bind(db) : value;
      },
    });
    const now = () => app.clock.now;
    const service = new UsageService(replaced, now);
    try {
      await db.close();
      const refused = { atMs: NOON_MS, door: 'graphql', outcome: 'refused' } as const;
      for (let sent = 0; sent < 150; sent += 1)
        service.count(countedRequest({ projectId: projectId + BigInt(sent), ...refused }));
      await expect(service.flush()).rejects.toThrow();
      service.count(countedRequest({ projectId, ...refused }));
      app.clock.now += 3 * HOUR_MS;
      db = await Database.open(app.config.database, DATABASE_SCHEMA);
      await service.flush();
      const days = await app.db.repository(UsageCount).findBy({ bucket: 'day', name: 'graphql' });
      expect(days.reduce((sum, { refused }) => sum + refused, 0)).toBe(151);
      await service.flush();
      const [day] = (await pointsOf(app.app.services, projectId, 'MONTH')).slice(-1);
      expect(day?.graphql.refused).toBe(2);
      // By then the minutes are too old to be stored.
      expect(await app.db.repository(UsageCount).countBy({ bucket: 'minute' })).toBe(0);
      expect(await app.db.repository(UsageCount).countBy({ bucket: 'day', name: 'graphql' })).toBe(150);
    } finally {
      await db.close();
      await app.stop();
    }
  });
});

test('Usage-19: the row of a writer is deleted 35 days after its last batch, and the writer goes on', async () => {
  const app = await startApp({ now: NOON_MS });
  try {
    const rows = app.db.repository(ChangeSequence);
    const writers = async () => (await rows.find()).filter(({ name }) => name.startsWith('b:')).length;
    const { projectId } = await app.tenant();
    const service = new UsageService(app.db, () => app.clock.now);
    const lasting = (await rows.find()).length;
    for (const round of [1, 2]) {
      service.count(countedRequest({ projectId, atMs: app.clock.now }));
      await service.flush();
      app.clock.now += 35 * DAY_MS;
      await service.deleteOldRows();
      expect([round, await writers()]).toEqual([round, 1]);
      app.clock.now += 1;
      await service.deleteOldRows();
      expect([round, await writers()]).toEqual([round, 0]);
    }
    expect((await rows.find()).length).toBe(lasting);
  } finally {
    await app.stop();
  }
});

// A run on SQLite alone has no network.
for (const kind of databaseKinds().filter((name) => name !== 'sqlite')) {
  test(`Usage-18: a batch whose COMMIT lost its answer is counted once (${kind})`, async () => {
    const app = await startApp({ kind, now: NOON_MS });
    const { projectId } = await app.tenant();
    const url = new URL(app.config.database.kind === 'sqlite' ? '' : app.config.database.url);
    const proxy = await startFaultProxy(Number(url.port));
    url.port = String(proxy.port);
    const { database: target } = loadConfig({ DATABASE_URL: url.href });
    const db = await Database.open(target, DATABASE_SCHEMA, { queryTimeoutMs: 300 });
    const service = new UsageService(db, () => NOON_MS);
    try {
      const counted = async () => {
        const [day] = await app.db
          .repository(UsageCount)
          .findBy({ projectId, bucket: 'day', dimension: 'door' });
        return day?.admitted ?? 0;
      };
      // Its first batch creates the row of the writer, the second one changes it.
      for (const total of [1, 2]) {
        service.count(countedRequest({ projectId, atMs: NOON_MS }));
        await proxy.set('lost commit');
        await expect(service.flush()).rejects.toThrow();
        await eventually('the server commits', async () => (await counted()) === total);
        await proxy.set('pass');
        service.count(countedRequest({ projectId: projectId + 1n, atMs: NOON_MS }));
        await service.flush();
        await service.flush();
        expect(await counted()).toBe(total);
      }
      const others = await app.db
        .repository(UsageCount)
        .findBy({ projectId: projectId + 1n, dimension: 'door', bucket: 'day' });
      expect(others.map(({ admitted }) => admitted)).toEqual([2]);
    } finally {
      await db.close();
      await proxy.stop();
      await app.stop();
    }
  });
}

test('Usage-25: latency counts admitted requests only, and the windows are 60 minutes, 24 hours and 30 days', () => {
  const counters = new UsageCounters(100);
  counters.count(countedRequest({ projectId: 1n, outcome: 'refused' }));
  expect(counters.of(1n)[0]?.counts.latency.size).toBe(0);
  counters.count(countedRequest({ projectId: 1n }));
  expect(counters.of(1n)[0]?.counts.latency.size).toBe(1);
  expect(Object.values(USAGE_WINDOWS)).toEqual([
    { bucket: 'minute', points: 60 },
    { bucket: 'hour', points: 24 },
    { bucket: 'day', points: 30 },
  ]);
});

test('Usage-8: memory holds at most its limit of counts, and of the operations of a minute', () => {
  const counters = new UsageCounters(5_000);
  for (let minute = 0; minute < 10; minute += 1) {
    for (let project = 0; project < 500; project += 1) {
      counters.count(countedRequest({ projectId: BigInt(project), atMs: minute * MINUTE_MS }));
    }
    expect(counters.size).toBeLessThanOrEqual(5_000);
  }
  // Each of these requests has five counts.
  expect(counters.take(12)).toHaveLength(2);
  expect(counters.take(1)).toHaveLength(1);
  expect(counters.take(5_000)).toHaveLength(997);
  expect(counters.size).toBe(0);
  for (let at = 0; at < 3_000; at += 1) {
    counters.count(countedRequest({ projectId: 1n, operation: `operation${at}` }));
  }
  expect(counters.size).toBe(1_001 + 4);
  expect(counters.take(1)[0]?.counts.operation.get('other')).toEqual({
    admitted: 2_000,
    refused: 0,
    failed: 0,
    units: 2_000,
  });
});

test('Usage-9: a half-full memory is stored early', async () => {
  const config = loadConfig({ DATABASE_URL: 'sqlite::memory:' });
  const db = await Database.open(config.database, DATABASE_SCHEMA);
  try {
    const now = () => NOON_MS;
    const service = new UsageService(db, now, 500);
    for (let project = 0; project < 120; project += 1) {
      service.count(countedRequest({ projectId: BigInt(project), atMs: NOON_MS }));
      if (project === 60) await service.flush();
    }
    await service.flush();
    expect(await db.repository(UsageCount).countBy({ bucket: 'minute', dimension: 'key' })).toBe(120);
  } finally {
    await db.close();
  }
});
