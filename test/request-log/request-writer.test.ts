import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { loadConfig } from '../../src/ground/config/config.js';
import { Database } from '../../src/ground/database/database.js';
import { insertRows } from '../../src/ground/database/insert-rows.js';
import { Retention } from '../../src/ground/database/retention.js';
import type { CountedRequest } from '../../src/ground/kernel/answered-request.js';
import { firstIdAt } from '../../src/ground/kernel/ids.js';
import { migrate } from '../../src/ground/migrating/migrate.js';
import { KeyNames } from '../../src/tenants/api-keys/key-names.js';
import { LoggedRequest, REQUEST_RETENTION } from '../../src/tenants/request-log/logged-request.entity.js';
import { ProjectRequests } from '../../src/tenants/request-log/project-requests.js';
import {
  type NewRow,
  RequestWriter,
  UnstoredRequests,
} from '../../src/tenants/request-log/request-writer.js';
import { UsageService } from '../../src/tenants/usage/usage.service.js';
import { callAs } from '../support/call-as.js';
import { createTestDatabase, databaseKinds, type TestDatabase } from '../support/databases.js';
import { DATABASE_SCHEMA } from '../support/gateway/tested-gateway.js';
import { type Fault, startFaultProxy } from '../support/http/fault-proxy.js';
import { NOON_MS } from '../support/limiter/charges.js';
import { atMachineSpeed } from '../support/own-time.js';
import { countedRequest } from '../support/usage/counted-request.js';

let projects = 1_000n;
const newProject = () => {
  projects += 1n;
  return projects;
};

/** A process that writes the log of a database; `clock.now` is its time. */
function writerOn(db: Database, clock: { now: number }) {
  const now = () => clock.now;
  const writer = new RequestWriter(db, now);
  const usage = new UsageService(db, now);
  const reader = new ProjectRequests(db, new KeyNames(db), { writer, usage }, now);
  const note = (projectId: bigint, count: number, facts: Partial<CountedRequest> = {}) => {
    for (let noted = 0; noted < count; noted += 1) {
      const request = countedRequest({ projectId, atMs: clock.now, ...facts });
      usage.count(request);
      writer.note(request);
    }
  };
  const flush = async (isLast = false) => {
    await usage.flush();
    await writer.flush(isLast);
  };
  const leftOutOf = async (projectId: bigint) => {
    const wanted = [{ pageSize: 1, beforeId: null, filter: {} }];
    const [page] = await reader.read(callAs({ keyId: 1n, projectId }), wanted);
    return page?.leftOut;
  };
  return { reader, note, flush, leftOutOf };
}

const ERROR = { outcome: 'failed', status: 404, code: 'not_found' } as const;
const REFUSED = { outcome: 'refused', status: 429, code: 'rate_limited_day' } as const;

describe.each(databaseKinds())('on %s', (kind) => {
  let database: TestDatabase;
  let db: Database;
  let otherDb: Database;
  const clock = { now: NOON_MS };

  beforeAll(async () => {
    database = await createTestDatabase(kind);
    const { database: target } = loadConfig({ DATABASE_URL: database.url });
    await migrate(target, DATABASE_SCHEMA);
    db = await Database.open(target, DATABASE_SCHEMA);
    otherDb = await Database.open(target, DATABASE_SCHEMA);
  });
  afterAll(async () => {
    await db.close();
    await otherDb.close();
    await database.remove();
  });

  const rowsOf = (projectId: bigint) =>
    db.repository(LoggedRequest).find({ where: { projectId }, order: { id: 'ASC' } });
  const outcomes = async (projectId: bigint) => {
    const rows = await rowsOf(projectId);
    const errors = rows.filter(({ outcome }) => outcome !== 'ok').length;
    return { ok: rows.length - errors, errors };
  };

  test('RequestWriter-1: rows wait for the end of their second, so that an error can replace another row', async () => {
    const { note, flush, leftOutOf } = writerOn(db, clock);
    const projectId = newProject();
    note(projectId, 50);
    await flush();
    expect(await outcomes(projectId)).toEqual({ ok: 0, errors: 0 });
    expect(await leftOutOf(projectId)).toBe(0);
    note(projectId, 20, ERROR);
    clock.now += 1_000;
    note(projectId, 1);
    await flush();
    expect(await outcomes(projectId)).toEqual({ ok: 30, errors: 20 });
    await flush(true);
    expect((await outcomes(projectId)).ok).toBe(31);
    expect(await leftOutOf(projectId)).toBe(20);
  });

  test('RequestWriter-2: each process stores 50 rows of a second, errors first, and the sum of all processes is exact', async () => {
    const [mine, theirs] = [writerOn(db, clock), writerOn(otherDb, clock)];
    const [busy, failing, calm] = [newProject(), newProject(), newProject()];
    clock.now += 1_000;
    for (const { note } of [mine, theirs]) {
      note(busy, 100);
      note(busy, 10, ERROR);
      note(failing, 60, ERROR);
      note(calm, 20);
    }
    clock.now += 1_000;
    for (let round = 0; round < 2; round += 1) {
      await Promise.all([mine.flush(), theirs.flush()]);
    }
    expect(await outcomes(busy)).toEqual({ ok: 80, errors: 20 });
    expect(await outcomes(failing)).toEqual({ ok: 0, errors: 100 });
    expect(await outcomes(calm)).toEqual({ ok: 40, errors: 0 });
    for (const { leftOutOf } of [mine, theirs]) {
      expect(await Promise.all([busy, failing, calm].map(leftOutOf))).toEqual([120, 20, 0]);
    }
  });

  test('RequestWriter-13: a full second keeps every strike, in place of other refusals and of no other error', async () => {
    const { note, flush, leftOutOf } = writerOn(db, clock);
    const projectId = newProject();
    note(projectId, 5, ERROR);
    note(projectId, 55, REFUSED);
    note(projectId, 10, { ...REFUSED, strikeBy: 'curl/7.88.1' });
    note(projectId, 10, ERROR);
    await flush(true);
    const rows = await rowsOf(projectId);
    const strikes = rows.filter(({ strikeBy }) => strikeBy === 'curl/7.88.1');
    const failed = rows.filter(({ outcome }) => outcome === 'failed');
    expect([rows.length, strikes.length, failed.length]).toEqual([50, 10, 5]);
    expect(await leftOutOf(projectId)).toBe(30);
  });

  test('RequestWriter-3: ids follow the time of the answer, also of rows that are stored late and by another process', async () => {
    const [mine, theirs] = [writerOn(db, clock), writerOn(otherDb, clock)];
    const projectId = newProject();
    for (let sent = 0; sent < 300; sent += 1) {
      clock.now += 50;
      [mine, theirs][sent % 2]?.note(projectId, 1);
    }
    clock.now += 60_000;
    await theirs.flush();
    await mine.flush();
    const times = (await rowsOf(projectId)).map(({ atMs }) => atMs);
    expect(times).toHaveLength(300);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });

  test('RequestWriter-8: an answer that its client read for hours is stored, and stops no other row', async () => {
    const projectId = newProject();
    const { note, flush } = writerOn(db, clock);
    note(projectId, 1, { durationMs: 3_600_000 });
    note(projectId, 1);
    await flush(true);
    expect(await rowsOf(projectId)).toHaveLength(2);
  });

  test('RequestWriter-7: a request is stored although the id that it draws is taken', async () => {
    const writer = new RequestWriter(db, () => clock.now);
    const projectId = newProject();
    clock.now += 1_000;
    writer.note(countedRequest({ projectId, atMs: clock.now }));
    await writer.flush(true);
    const [row] = await rowsOf(projectId);
    const firstId = firstIdAt(clock.now);
    // Half of the ids that a draw can give.
    const taken = Array.from({ length: 1_024 }, (_, at) => ({
      ...(row as LoggedRequest),
      id: firstId + BigInt(at),
    }));
    await db.repository(LoggedRequest).delete({ projectId });
    await db.transaction((manager) => insertRows(manager, LoggedRequest, taken));
    for (let sent = 1; sent <= 12; sent += 1) {
      writer.note(countedRequest({ projectId, atMs: clock.now, ...ERROR }));
      await writer.flush(true);
    }
    expect(await outcomes(projectId)).toEqual({ ok: 1_024, errors: 12 });
  });

  test('RequestWriter-12: two processes whose ids are ahead of their clocks store all rows', async () => {
    const projectId = newProject();
    const ahead = firstIdAt(clock.now + 3_600_000);
    const writers = [db, otherDb].map((each) => new RequestWriter(each, () => clock.now));
    for (const writer of writers) {
      writer.startAbove(ahead);
      for (let sent = 0; sent < 5; sent += 1) writer.note(countedRequest({ projectId, atMs: clock.now }));
      await writer.flush(true);
      writer.note(countedRequest({ projectId, atMs: clock.now }));
      await writer.flush(true);
    }
    const rows = await rowsOf(projectId);
    expect([rows.length, new Set(rows.map(({ id }) => id)).size]).toEqual([12, 12]);
  });

  test('RequestWriter-9: rows that are stored take no room: of 1,200 requests none is left out', async () => {
    const { note, flush } = writerOn(db, clock);
    const projectId = newProject();
    for (let second = 0; second < 24; second += 1) {
      note(projectId, 50);
      clock.now += 1_000;
      await flush();
    }
    expect(await db.repository(LoggedRequest).countBy({ projectId })).toBe(1_200);
  });

  test('RequestWriter-10: a flush ends after its rows are stored, also if another flush was under way', async () => {
    const writer = new RequestWriter(db, () => clock.now);
    const projectId = newProject();
    const note = (facts: Partial<CountedRequest>) =>
      writer.note(countedRequest({ projectId, atMs: clock.now, ...facts }));
    note({});
    const first = writer.flush(true);
    note(ERROR);
    await writer.flush(true);
    expect(await outcomes(projectId)).toEqual({ ok: 1, errors: 1 });
    await first;
  });

  test('RequestWriter-4: 10,000 rows of a project stay; a row that is deleted before 48 hours is left out', async () => {
    const { reader, note, flush } = writerOn(db, clock);
    const retention = new Retention(db, LoggedRequest, REQUEST_RETENTION, () => clock.now);
    const projectId = newProject();
    const extent = async () => {
      const wanted = [{ pageSize: 100, beforeId: null, filter: { operation: 'first' } }];
      const [page] = await reader.read(callAs({ keyId: 1n, projectId }), wanted);
      return { first: page?.rows.length, leftOut: page?.leftOut };
    };
    note(projectId, 40, { operation: 'first' });
    for (let second = 0; second < 205; second += 1) {
      clock.now += 1_000;
      note(projectId, 50, { operation: 'later' });
      await flush();
    }
    clock.now += 1_000;
    await flush();
    // Not deleted yet, but no longer shown.
    expect(await extent()).toEqual({ first: 0, leftOut: 290 });
    await retention.deleteOldRows();
    expect((await rowsOf(projectId)).length).toBe(10_000);
    expect(await extent()).toEqual({ first: 0, leftOut: 290 });

    const filtered = { pageSize: 100, beforeId: null, filter: { requestId: 'none' } };
    const plain = { pageSize: 50, beforeId: null, filter: {} };
    const wanted = [...Array(5).fill(filtered), ...Array(15).fill(plain)].map((page) => ({ ...page }));
    const { result, tookMs } = await atMachineSpeed(() =>
      reader.read(callAs({ keyId: 1n, projectId }), wanted),
    );
    expect(result.map(({ rows }) => rows.length)).toEqual([...Array(5).fill(0), ...Array(15).fill(50)]);
    expect(tookMs).toBeLessThan(300);
  });
});

test('RequestWriter-5: while nothing can be stored memory is bounded for a project and in all, and errors have room of their own', () => {
  const unstored = new UnstoredRequests();
  const drained: NewRow[] = [];
  const projectId = newProject();
  for (let second = 0; second < 30; second += 1) {
    const atMs = NOON_MS + second * 1_000;
    for (let noted = 0; noted < 60; noted += 1) {
      unstored.note(countedRequest({ projectId, atMs, ...(noted % 3 === 0 ? ERROR : {}) }));
    }
    drained.push(...unstored.drain(-1));
  }
  const errors = drained.filter(({ outcome }) => outcome !== 'ok').length;
  expect([drained.length - errors, errors, unstored.countOf(projectId)]).toEqual([300, 600, 900]);

  for (let noted = 0; noted < 40_000; noted += 1) {
    unstored.note(
      countedRequest({ projectId: newProject(), atMs: NOON_MS, ...(noted % 2 === 0 ? ERROR : {}) }),
    );
  }
  const others = unstored.drain(-1);
  expect(drained.length + others.length).toBe(20_000);

  unstored.release([...drained, ...others]);
  unstored.note(countedRequest({ projectId }));
  expect(unstored.drain(-1)).toHaveLength(1);
});

const FAULTS: Fault[] = ['refuse', 'black hole', 'deaf', 'lost commit'];

// A run on SQLite alone has no network.
for (const kind of databaseKinds().filter((name) => name !== 'sqlite')) {
  test.each(FAULTS)(
    `RequestWriter-6: after a network fault each request is stored exactly once, and the sum is exact (${kind}, %s)`,
    async (fault) => {
      const database = await createTestDatabase(kind);
      const url = new URL(database.url);
      const proxy = await startFaultProxy(Number(url.port));
      const direct = loadConfig({ DATABASE_URL: database.url }).database;
      await migrate(direct, DATABASE_SCHEMA);
      const check = await Database.open(direct, DATABASE_SCHEMA);
      url.port = String(proxy.port);
      const target = loadConfig({ DATABASE_URL: url.href }).database;
      const db = await Database.open(target, DATABASE_SCHEMA, { queryTimeoutMs: 300 });
      try {
        const clock = { now: NOON_MS };
        const { note, flush, leftOutOf } = writerOn(db, clock);
        const projectId = newProject();
        for (let second = 0; second < 3; second += 1) {
          note(projectId, 70);
          clock.now += 1_000;
          if (second === 1) await proxy.set(fault);
          await flush().catch(() => {});
        }
        await proxy.set('pass');
        for (let attempt = 0; attempt < 20; attempt += 1) await flush().catch(() => {});
        expect(await check.repository(LoggedRequest).countBy({ projectId })).toBe(150);
        expect(await leftOutOf(projectId)).toBe(60);
      } finally {
        await db.close();
        await check.close();
        await proxy.stop();
        await database.remove();
      }
    },
  );
}
