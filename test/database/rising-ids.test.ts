import { afterEach, describe, expect, test } from '@jest/globals';
import type { Services } from '../../src/app/services.js';
import { checkClock } from '../../src/cli/doctor-checks.js';
import { IdMark } from '../../src/ground/database/drawn-id.js';
import { firstIdAt, IdGenerator } from '../../src/ground/kernel/ids.js';
import { INT64_MAX } from '../../src/ground/kernel/int64.js';
import { AuditEvent } from '../../src/tenants/audit/audit-event.entity.js';
import { LoggedRequest } from '../../src/tenants/request-log/logged-request.entity.js';
import { databaseKinds, sharedDatabase } from '../support/databases.js';
import { createServices } from '../support/gateway/tested-gateway.js';
import { graphql, rest } from '../support/http/client.js';
import { Toy } from '../support/nouns/toys.js';
import { onEachDatabase, testOnMysql } from '../support/on-databases.js';
import { freePort } from '../support/servers/daemon.js';
import { startApp, type TestApp } from '../support/start-app.js';

const DAY_MS = 86_400_000;
const CREATE = 'mutation { createToy(input: {name: "Rex", categoryId: 1}) { id } }';
const PAGE = '{ nodes { id } pageInfo { endCursor } }';

describe.each(databaseKinds())('on %s', (kind) => {
  let app: TestApp;
  afterEach(() => app.stop());

  test.each([30_000, DAY_MS])(
    'Ids-17: after a restart with the clock %i ms back nothing new is behind an acknowledged record, in no list',
    async (backMs) => {
      app = await startApp({ kind });
      const { token } = await app.tenant();
      const send = async (url: string, query: string) => (await graphql(url, query, { token })).body.data;
      for (let n = 0; n < 3; n += 1) await send(app.url, CREATE);
      const { toys } = await send(app.url, `{ toys ${PAGE} }`);
      app.clock.now -= backMs;
      const after = await app.restarted();

      const made = (
        await rest(after.url, '/v1/toys', { method: 'POST', token, body: { name: 'New', categoryId: 1 } })
      ).body;
      const id = String(made.id);
      const further = await send(after.url, `{ toys(after: "${toys.pageInfo.endCursor}") ${PAGE} }`);
      expect(further.toys.nodes).toEqual([{ id }]);
      const newest = await send(after.url, '{ toys(first: 1, orderBy: NEWEST) { nodes { id } } }');
      expect(newest.toys.nodes).toEqual([{ id }]);
      await send(after.url, 'mutation { createApiKey(input: {name: "New", scopes: [TOYS_READ]}) { token } }');
      await after.close();
      for (const log of [AuditEvent, LoggedRequest]) {
        const [newest] = await app.db
          .repository<AuditEvent | LoggedRequest>(log)
          .find({ order: { id: 'DESC' }, take: 1 });
        expect(newest?.atMs).toBe(app.clock.now);
      }
    },
  );

  test('Ids-18: an id behind a deleted record is not drawn after a restart either', async () => {
    app = await startApp({ kind, env: { REQUEST_LOG: 'off' } });
    const { token } = await app.tenant();
    const { body } = await graphql(app.url, CREATE, { token });
    const { id } = body.data.createToy;
    await graphql(app.url, `mutation { deleteToy(id: "${id}") { id } }`, { token });
    app.clock.now -= DAY_MS;
    const after = await app.restarted();
    const again = await graphql(after.url, CREATE, { token });
    expect(BigInt(again.body.data.createToy.id)).toBeGreaterThan(BigInt(id));
    await after.close();
  });
});

onEachDatabase((app) => {
  test.each([-50, 50])(
    'Ids-19: ids of a process whose clock differs by %i ms differ by no more, from its first id on',
    async (apartMs) => {
      const { clock, db } = app();
      const one = app().app.services;
      await app().tenant();
      await new IdMark(db, one.ids).store();
      const other = createServices(db, () => clock.now + apartMs);
      await other.startIds();
      const most = firstIdAt(50) - firstIdAt(0) + (1n << 12n);
      for (let n = 0; n < 100; n += 1) {
        clock.now += 5;
        const [mine, theirs] = [drawn(one), drawn(other)];
        expect(mine > theirs ? mine - theirs : theirs - mine).toBeLessThanOrEqual(most);
      }
    },
  );

  test('Ids-20: rows with ids beyond those that are drawn do not raise the ids of a process that starts', async () => {
    const { projectId } = await app().tenant();
    const toy = { projectId, name: 'Old', categoryId: 1n, status: null, createdAtMs: 0 };
    await app()
      .db.repository(Toy)
      .insert([INT64_MAX, 2n ** 53n - 1n].map((id) => ({ ...toy, id })));
    const services = createServices(app().db, () => app().clock.now);
    await services.startIds();
    expect(drawn(services)).toBeLessThan(firstIdAt(app().clock.now + 1_000));
  });

  test('Ids-21: while the clock shows 2094 nothing is created, and afterwards ids continue below 2^53', async () => {
    const { token } = await app().tenant();
    const { now } = app().clock;
    app().clock.now = Date.UTC(2094, 0, 1);
    const body = { name: 'Rex', categoryId: 1 };
    const refused = await rest(app().url, '/v1/toys', { method: 'POST', token, body });
    expect(refused.body).toMatchObject({ status: 503, code: 'unavailable' });
    app().clock.now = now;
    const { body: made } = await rest(app().url, '/v1/toys', { method: 'POST', token, body });
    expect(made.id).toBeLessThan(Number(firstIdAt(now + 1_000)));
  });
});

testOnMysql(
  'Ids-23: the difference of the clock from the database is a metric, and `doctor` says it',
  async () => {
    const port = await freePort();
    const app = await startApp({
      kind: sharedDatabase(),
      env: { METRICS_PORT: String(port) },
      now: Date.now() + 90_000,
    });
    try {
      app.clock.now = Date.now() + 90_000;
      const { text } = await rest(`http://127.0.0.1:${port}`, '/metrics');
      const [, seconds] = /^petstore_clock_difference_seconds (.+)$/m.exec(text) ?? [];
      expect(Math.round(Number(seconds) / 10)).toBe(9);
      expect(await checkClock(app.config)).toMatchObject({
        ok: true,
        found: expect.stringContaining(' ms '),
      });
    } finally {
      await app.stop();
    }
  },
);

test('Ids-22: ids rise while the clock steps back, and stay below 2^53 to the last day', () => {
  let now = Date.UTC(2093, 11, 31, 23, 59, 59, 999);
  const ids = new IdGenerator(() => now);
  let last = 0n;
  for (const stepMs of [0, -1, -DAY_MS, DAY_MS, -30_000, 1, -365 * DAY_MS]) {
    now += stepMs;
    for (let n = 0; n < 5_000; n += 1) {
      const id = n % 2 === 0 ? ids.next() : ids.nextFurther();
      if (id <= last) throw new Error(`${id} is behind ${last}`);
      last = id;
    }
    now = Math.min(now, Date.UTC(2093, 11, 31));
  }
  expect(last).toBeLessThan(2n ** 53n);
});

const drawn = ({ ids }: Services) => ids.next();
