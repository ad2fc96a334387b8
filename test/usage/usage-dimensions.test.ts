import { expect, test } from '@jest/globals';
import { BUCKET_NAMES, type UsageWindow } from '../../src/tenants/usage/buckets.js';
import { USAGE_DIMENSIONS, type UsageDimension } from '../../src/tenants/usage/project-usage.js';
import { UsageCount } from '../../src/tenants/usage/usage-count.entity.js';
import { latencyBucket, latencyOf, type Outcomes } from '../../src/tenants/usage/usage-counters.js';
import { createServices } from '../support/gateway/tested-gateway.js';
import { graphql, rest } from '../support/http/client.js';
import { DAY_MS, HOUR_MS, MINUTE_MS, NOON_MS } from '../support/limiter/charges.js';
import { onEachDatabase } from '../support/on-databases.js';
import { TEST_ACTOR, type TestApp } from '../support/start-app.js';
import { countedRequest } from '../support/usage/counted-request.js';
import { reportOf } from '../support/usage/usage-reports.js';

const WINDOWS = ['HOUR', 'DAY', 'MONTH'] as const satisfies UsageWindow[];

function sumOf(counts: readonly Outcomes[]): Outcomes {
  return counts.reduce<Outcomes>(
    (sum, { admitted, refused, failed, units }) => ({
      admitted: sum.admitted + admitted,
      refused: sum.refused + refused,
      failed: sum.failed + failed,
      units: sum.units + units,
    }),
    { admitted: 0, refused: 0, failed: 0, units: 0 },
  );
}

/** Expects that in every window each dimension sums to `total`, as a whole and at each point. */
async function expectSums(services: TestApp['app']['services'], projectId: bigint, total: Outcomes) {
  for (const window of WINDOWS) {
    for (const by of USAGE_DIMENSIONS) {
      const report = await reportOf(services, projectId, window, by);
      expect([window, by, report.total]).toEqual([window, by, total]);
      expect([by, sumOf(report.series.map((series) => series.total))]).toEqual([by, total]);
      for (const series of report.series) expect(sumOf(series.counts)).toEqual(series.total);
      const atPoints = report.points.map((_, at) =>
        sumOf(report.series.flatMap(({ counts }) => counts[at] ?? [])),
      );
      expect(atPoints).toEqual(report.points.map(({ graphql, rest }) => sumOf([graphql, rest])));
    }
  }
}

const names = async (app: TestApp, projectId: bigint, by: UsageDimension) =>
  Object.fromEntries(
    (await reportOf(app.app.services, projectId, 'DAY', by)).series.map(({ name, total }) => [
      name,
      [total.admitted, total.refused, total.failed, total.units],
    ]),
  );

onEachDatabase(
  (app) => {
    test('Usage-20: without reads of dashboards, each dimension and every point leave them out, stored or not', async () => {
      const { services } = app().app;
      const { token, projectId, keyId } = await app().tenant();
      const headers = { 'apollographql-client-name': 'dashboard' };
      const query = 'query UsageOf { project { slug } }';
      await rest(app().url, '/v1/toys', { token });
      for (let sent = 0; sent < 3; sent += 1) await graphql(app().url, query, { token, headers });
      // Neither is a read of a dashboard: one spends a unit, one fails, one comes from another client.
      await graphql(app().url, 'query Toys { toys { nodes { id } } }', { token, headers });
      await graphql(app().url, 'query Domain { domain(id: "1") { id } }', { token, headers });
      await graphql(app().url, query, { token });
      for (const isStored of [false, true]) {
        if (isStored) await services.usage.flush();
        for (const [by, expected] of [
          ['DOOR', { graphql: 3, rest: 1 }],
          ['KEY', { [String(keyId)]: 4 }],
          ['OPERATION', { listToys: 1, Toys: 1, Domain: 1, UsageOf: 1 }],
          ['STATUS', { 200: 4 }],
        ] as const) {
          const of = async (dashboards: boolean) => reportOf(services, projectId, 'DAY', by, dashboards);
          const [without, all] = [await of(false), await of(true)];
          const counts = without.series.map(({ name, total }) => [name, total.admitted]);
          expect([isStored, Object.fromEntries(counts)]).toEqual([isStored, expected]);
          expect([without.total.admitted, all.total.admitted]).toEqual([4, 7]);
          const managing = (report: typeof all) =>
            sumOf(report.points.map(({ management }) => management)).admitted;
          expect([managing(without), managing(all)]).toEqual([2, 5]);
        }
      }
    });

    test('Usage-10: each dimension sums to the total, before and after the counts are stored', async () => {
      const { token, slug, projectId, keyId } = await app().tenant();
      const { key, token: other } = await app().app.services.apiKeys.create(TEST_ACTOR, {
        projectId,
        name: 'other key',
        scopes: ['toys:read'],
        expiresAtMs: null,
      });
      const quota = { plan: 'ENTERPRISE', perMinute: 7, perDay: 1_000 } as const;
      await app().app.services.projects.change(TEST_ACTOR, slug, quota);
      app().clock.now += MINUTE_MS;
      await rest(app().url, '/v1/toys?limit=1', { token });
      await rest(app().url, '/v1/toys/1', { token: other });
      await rest(app().url, '/v1/toys', {
        token: other,
        method: 'POST',
        body: { name: 'Rex', categoryId: 1 },
      });
      await rest(app().url, '/v1/nowhere', { token });
      await graphql(app().url, 'query Shelf { toys(first: 1) { nodes { id } } }', { token });
      await graphql(app().url, '{ toy(id: "1") { id } project { slug } }', { token });
      await graphql(app().url, 'query Owner { project { slug } }', { token });
      await expectSums(app().app.services, projectId, { admitted: 7, refused: 0, failed: 4, units: 6 });
      await app().app.services.usage.flush();
      await rest(app().url, '/v1/toys', { token: other });
      await rest(app().url, '/v1/toys', { token: other });
      const total = { admitted: 8, refused: 1, failed: 4, units: 7 };
      await expectSums(app().app.services, projectId, total);
      await app().app.services.usage.flush();
      await expectSums(app().app.services, projectId, total);

      expect(await names(app(), projectId, 'KEY')).toEqual({
        [String(keyId)]: [5, 0, 2, 4],
        [String(key.id)]: [3, 1, 2, 3],
      });
      expect(await names(app(), projectId, 'OPERATION')).toEqual({
        listToys: [2, 1, 0, 2],
        getToy: [1, 0, 1, 1],
        createToy: [1, 0, 1, 1],
        other: [1, 0, 1, 1],
        Shelf: [1, 0, 0, 1],
        'project,toy': [1, 0, 1, 1],
        Owner: [1, 0, 0, 0],
      });
      expect(await names(app(), projectId, 'STATUS')).toEqual({
        200: [5, 0, 1, 4],
        403: [1, 0, 1, 1],
        404: [2, 0, 2, 2],
        429: [0, 1, 0, 0],
      });
    });

    test('Usage-11: usage by key shows the names of the project’s keys, of revoked ones too, and needs the scope keys', async () => {
      const { token, projectId, keyId } = await app().tenant();
      const weak = await app().app.services.apiKeys.create(TEST_ACTOR, {
        projectId,
        name: 'nightly <import> 🐈',
        scopes: ['toys:read'],
        expiresAtMs: null,
      });
      await rest(app().url, '/v1/toys', { token: weak.token });
      const query = (by: string) =>
        `{ project { usage(window: DAY, by: ${by}) { series { name label total { admitted } } } plan } }`;
      const refused = await graphql(app().url, query('KEY'), { token: weak.token });
      expect(refused.body.errors[0].extensions).toMatchObject({ code: 'FORBIDDEN', status: 403 });
      expect(
        (await graphql(app().url, query('OPERATION'), { token: weak.token })).body.errors,
      ).toBeUndefined();
      await app().app.services.apiKeys.revoke(TEST_ACTOR, weak.key.id);
      const { body } = await graphql(app().url, query('KEY'), { token });
      expect(body.data.project.usage.series).toEqual([
        { name: String(weak.key.id), label: 'nightly <import> 🐈', total: { admitted: 3 } },
      ]);
      const again = await graphql(app().url, query('KEY'), { token });
      expect(again.body.data.project.usage.series[1]).toEqual({
        name: String(keyId),
        label: 'test',
        total: { admitted: 1 },
      });
    });

    test('Usage-12: a day has at most 200 operations and 200 keys, also when several processes count at once', async () => {
      const { projectId } = await app().tenant();
      const atMs = app().clock.now;
      const processes = Array.from({ length: 4 }, () => createServices(app().db, () => app().clock.now));
      for (let round = 0; round < 3; round += 1) {
        for (const [process, { usage }] of processes.entries()) {
          for (let at = 0; at < 100; at += 1) {
            // Of every two names, one is counted by all processes.
            const name = at % 2 ? `shared${round}_${at}` : `own${round}_${process}_${at}`;
            usage.count(
              countedRequest({
                projectId,
                atMs,
                operation: name,
                keyId: BigInt(round * 1_000 + at * 4 + process),
              }),
            );
          }
        }
        await Promise.all(processes.map(({ usage }) => usage.flush()));
      }
      for (const dimension of ['operation', 'key'] as const) {
        for (const bucket of BUCKET_NAMES) {
          const rows = await app().db.repository(UsageCount).findBy({ projectId, bucket, dimension });
          expect([bucket, rows.length]).toEqual([bucket, 201]);
          expect(sumOf(rows).admitted).toBe(1_200);
        }
      }
      await expectSums(app().app.services, projectId, {
        admitted: 1_200,
        refused: 0,
        failed: 0,
        units: 1_200,
      });
    });

    test('Usage-13: an operation without a row of its own today has none in the minutes and hours either', async () => {
      const { projectId } = await app().tenant();
      const { usage } = createServices(app().db, () => app().clock.now);
      const count = (operation: string) =>
        usage.count(countedRequest({ projectId, atMs: app().clock.now, operation }));
      app().clock.now = Math.ceil(app().clock.now / DAY_MS) * DAY_MS;
      for (let at = 0; at < 200; at += 1) count(`early${at}`);
      await usage.flush();
      app().clock.now += HOUR_MS;
      for (const operation of ['late', 'early7', 'other']) count(operation);
      await usage.flush();
      const latest = async () =>
        (await reportOf(app().app.services, projectId, 'HOUR', 'OPERATION')).series
          .map(({ name }) => name)
          .sort();
      expect((await latest()).filter((name) => name !== 'early7')).toHaveLength(1);
      expect(await latest()).toContain('other');
      // The next day has room again; its window still has at most 200 names and `other`.
      app().clock.now += DAY_MS;
      for (let at = 0; at < 150; at += 1) count(`next${at}`);
      await usage.flush();
      expect(await latest()).toHaveLength(150);
      const { series } = await reportOf(app().app.services, projectId, 'MONTH', 'OPERATION');
      expect(series).toHaveLength(201);
      expect(series.at(-1)).toMatchObject({ name: 'other', total: { admitted: 2 + 150 } });
      expect(sumOf(series.map(({ total }) => total)).admitted).toBe(353);
    });

    test('Usage-14: the latency is that of the admitted requests, within 10 %', async () => {
      const { projectId } = await app().tenant();
      const { usage } = app().app.services;
      const atMs = app().clock.now;
      for (let at = 1; at <= 100; at += 1) usage.count(countedRequest({ projectId, atMs, durationMs: at }));
      const refused = { outcome: 'refused', durationMs: 0.2 } as const;
      for (let at = 0; at < 500; at += 1) usage.count(countedRequest({ projectId, atMs, ...refused }));
      await usage.flush();
      for (const window of WINDOWS) {
        const { p50Ms, p95Ms } = (await reportOf(app().app.services, projectId, window)).latency;
        expect(Math.abs(Number(p50Ms) / 50 - 1)).toBeLessThan(0.1);
        expect(Math.abs(Number(p95Ms) / 95 - 1)).toBeLessThan(0.1);
      }
      const { projectId: silent } = await app().tenant();
      expect((await reportOf(app().app.services, silent, 'DAY')).latency).toEqual({
        p50Ms: null,
        p95Ms: null,
      });
    });
  },
  { now: NOON_MS },
);

test('Usage-15: every duration counts in a bucket whose middle is at most 10 % away, up to 5 s', () => {
  for (let durationMs = 0.1; durationMs < 5_000; durationMs *= 1.003) {
    const { p50Ms } = latencyOf(new Map([[latencyBucket(durationMs), 1]]));
    expect(Math.abs(Number(p50Ms) / durationMs - 1)).toBeLessThan(0.1);
  }
  for (const durationMs of [0, -1, Number.NaN]) expect(latencyBucket(durationMs)).toBe(0);
  expect(latencyBucket(Number.POSITIVE_INFINITY)).toBe(latencyBucket(10_000));
});
