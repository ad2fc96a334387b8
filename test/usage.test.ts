import { describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { createApp } from '../src/app.js';
import { loadConfig } from '../src/config.js';
import { Database } from '../src/database/database.js';
import { UsageService } from '../src/usage/usage.service.js';
import { UsageCount } from '../src/usage/usage-count.entity.js';
import { UsageCounters } from '../src/usage/usage-counters.js';
import { DAY_MS, HOUR_MS, MINUTE_MS, NOON_MS } from './support/charges.js';
import { graphql, rest } from './support/client.js';
import { databaseKinds } from './support/databases.js';
import { onEachDatabase } from './support/on-databases.js';
import { startApp } from './support/start-app.js';

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
    const list = (token: string, url = app().url) => rest(url, '/v1/pets', { token });

    test('Usage: counts admitted and refused requests of both doors, zeros where nothing was asked', async () => {
      const { token, slug } = await app().tenant();
      const quota = { plan: 'ENTERPRISE', perMinute: 3, perDay: 1_000 } as const;
      await app().app.services.projects.change({ name: 'test', requestId: null }, slug, quota);
      app().clock.now = NOON_MS + HOUR_MS;
      for (let sent = 0; sent < 2; sent += 1) await list(token);
      await graphql(app().url, '{ pets { nodes { id } } }', { token });
      await list(token);
      await graphql(app().url, '{ pets { nodes { id } } }', { token });
      // Not of a caller, and free.
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

    test('Usage: what two processes on one database count adds up', async () => {
      const { token, projectId } = await app().tenant();
      const otherDb = await Database.open(app().config.database);
      const other = await createApp({
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
            const [point] = (await services.usage.read(projectId, 'HOUR')).slice(-1);
            expect(point?.rest.admitted).toBe(round * 10);
          }
        }
      } finally {
        await other.http.close();
        await otherDb.close();
      }
    });

    test('Usage: a project sees only its own', async () => {
      const mine = await app().tenant();
      const theirs = await app().tenant();
      await list(theirs.token);
      const points = await usage(app().url, mine.token, 'MONTH');
      expect(points.every(({ rest }) => rest.admitted === 0)).toBe(true);
    });

    test('Usage: requests while it is stored are counted once each', async () => {
      const { token, projectId } = await app().tenant();
      const { usage: service } = app().app.services;
      let sent = 0;
      for (let round = 0; round < 10; round += 1) {
        const flushes = [service.flush(), list(token), service.read(projectId, 'HOUR')];
        sent += 1;
        await Promise.all([...flushes, service.flush()]);
      }
      const reads = await Promise.all(
        Array.from({ length: 20 }, async (_, at) => {
          if (at % 5 === 0) await service.flush();
          return (await service.read(projectId, 'HOUR')).reduce((sum, { rest }) => sum + rest.admitted, 0);
        }),
      );
      expect(reads).toEqual(Array(20).fill(sent));
    });

    test('Usage: minutes are kept for two hours, days for 35 days', async () => {
      const { projectId } = await app().tenant();
      const service = new UsageService(app().db, () => app().clock.now);
      const count = () => app().db.repository(UsageCount).countBy({ projectId });
      for (let back = 0; back < 3; back += 1) {
        service.count(projectId, 'rest', 'admitted');
        await service.flush();
        app().clock.now += MINUTE_MS;
      }
      expect(await count()).toBe(4);
      app().clock.now += 2 * HOUR_MS - 2 * MINUTE_MS;
      await service.sweep();
      expect(await count()).toBe(2);
      app().clock.now += MINUTE_MS * 2;
      await service.sweep();
      expect(await app().db.repository(UsageCount).findBy({ projectId })).toMatchObject([
        { bucket: 'day', admitted: 3 },
      ]);
      app().clock.now += 34 * DAY_MS - HOUR_MS * 3;
      await service.sweep();
      expect(await count()).toBe(1);
      app().clock.now += 2 * DAY_MS;
      await service.sweep();
      expect(await count()).toBe(0);
    });
  },
  { now: NOON_MS },
);

describe.each(databaseKinds())('on %s', (kind) => {
  test('Usage: a restart and a change of day forget nothing', async () => {
    const app = await startApp({ kind, now: NOON_MS });
    const { token } = await app.tenant();
    await rest(app.url, '/v1/pets', { token });
    app.clock.now += DAY_MS;
    await rest(app.url, '/v1/pets', { token });
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

  test('Usage: what a database that was away could not take is stored later, once', async () => {
    const app = await startApp({ kind, now: NOON_MS });
    const { projectId } = await app.tenant();
    let db = await Database.open(app.config.database);
    const service = new UsageService(
      new Proxy({} as Database, {
        get: (_, name) => {
          const value = Reflect.get(db, name);
          return typeof value === 'function' ? value.bind(db) : value;
        },
      }),
      () => app.clock.now,
    );
    try {
      await db.close();
      for (let sent = 0; sent < 150; sent += 1) service.count(projectId + BigInt(sent), 'graphql', 'refused');
      await expect(service.flush()).rejects.toThrow();
      service.count(projectId, 'graphql', 'refused');
      app.clock.now += 3 * HOUR_MS;
      db = await Database.open(app.config.database);
      await service.flush();
      await service.flush();
      const [day] = (await service.read(projectId, 'MONTH')).slice(-1);
      expect(day?.graphql.refused).toBe(2);
      // By then too old to be kept.
      expect(await app.db.repository(UsageCount).countBy({ bucket: 'minute' })).toBe(0);
      expect(await app.db.repository(UsageCount).countBy({ bucket: 'day' })).toBe(150);
    } finally {
      await db.close();
      await app.stop();
    }
  });
});

test('Usage: memory holds so many project-minutes and no more', () => {
  const counters = new UsageCounters(1_000);
  for (let minute = 0; minute < 10; minute += 1) {
    for (let project = 0; project < 500; project += 1) {
      counters.count({ projectId: BigInt(project), minute, door: 'rest', decision: 'admitted' });
    }
    expect(counters.size).toBeLessThanOrEqual(1_000);
  }
  expect(counters.take()).toHaveLength(1_000);
  expect(counters.size).toBe(0);
});

test('Usage: a memory half full is stored early', async () => {
  const config = loadConfig({ DATABASE_URL: 'sqlite::memory:' });
  const db = await Database.open(config.database);
  try {
    const service = new UsageService(db, () => NOON_MS, 100);
    for (let project = 0; project < 120; project += 1) {
      service.count(BigInt(project), 'rest', 'admitted');
      if (project === 60) await service.flush();
    }
    await service.flush();
    expect(await db.repository(UsageCount).countBy({ bucket: 'minute' })).toBe(120);
  } finally {
    await db.close();
  }
});
