import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Like } from 'typeorm';
import { type DatabaseTarget, loadConfig } from '../../src/ground/config/config.js';
import { Database } from '../../src/ground/database/database.js';
import { migrate } from '../../src/ground/migrating/migrate.js';
import { bansInMemory, readBans } from '../../src/request/rate-limit/key-bans.js';
import {
  CounterStore,
  liftStoredBan,
  RateCounter,
} from '../../src/request/rate-limit/memory/counter-store.js';
import { MemoryLimiter } from '../../src/request/rate-limit/memory/memory-limiter.js';
import { banStatus, NO_RECORD } from '../../src/request/rate-limit/rules/bans.js';
import type { Usage } from '../../src/request/rate-limit/rules/windows.js';
import { createTestDatabase, databaseKinds, type TestDatabase } from '../support/databases.js';
import { DATABASE_SCHEMA } from '../support/gateway/tested-gateway.js';
import { charge, DAY_MS, HOUR_MS, hammer, NOON_MS } from '../support/limiter/charges.js';

const NONE = { perMinute: 0, perDay: 0 };

describe.each(databaseKinds())('on %s', (kind) => {
  let database: TestDatabase;
  let target: DatabaseTarget;
  let db: Database;
  const clock = { now: NOON_MS };
  beforeAll(async () => {
    database = await createTestDatabase(kind);
    target = loadConfig({ DATABASE_URL: database.url }).database;
    await migrate(target, DATABASE_SCHEMA);
  });
  afterAll(() => database.remove());
  beforeEach(async () => {
    db = await Database.open(target, DATABASE_SCHEMA);
    await db.repository(RateCounter).clear();
    clock.now = NOON_MS;
  });
  afterEach(() => db.close());

  /** Starts a process's limiter, with its counters read from the database. */
  async function startProcess() {
    const limiter = new MemoryLimiter(() => clock.now);
    const store = new CounterStore(db, limiter, () => clock.now);
    await store.restore();
    return { limiter, store };
  }

  const ban = (limiter: MemoryLimiter, keyId = '1') => hammer(limiter, clock, charge({ quota: NONE, keyId }));

  test('Limits-Stored-1: a restart keeps the spent units of 1,700 projects', async () => {
    const before = await startProcess();
    for (let index = 0; index < 1_700; index += 1) {
      for (let unit = 0; unit <= index % 3; unit += 1) {
        before.limiter.charge(charge({ subject: `project:${index}` }));
      }
    }
    await before.store.flush();
    const after = await startProcess();
    for (let index = 0; index < 1_700; index += 1) {
      expect(after.limiter.peek(charge({ subject: `project:${index}` }))).toEqual(
        before.limiter.peek(charge({ subject: `project:${index}` })),
      );
    }
  });

  test('Limits-Stored-2: bans, strikes and steps survive a restart', async () => {
    const before = await startProcess();
    await ban(before.limiter);
    await before.store.flush();
    // Takes five seconds.
    await hammer(before.limiter, clock, charge({ quota: NONE, keyId: '2' }), 5);
    await before.store.flush();
    clock.now += 1_000;
    const after = await startProcess();
    expect(after.limiter.charge(charge())).toMatchObject({ code: 'key_banned', retryAfterSeconds: 55 });
    for (const keyId of ['1', '2']) {
      expect(after.limiter.peek(charge({ keyId }))).toEqual(before.limiter.peek(charge({ keyId })));
    }
  });

  test('Limits-Stored-12: a lifted ban does not return after a crash, whatever the process was writing', async () => {
    const { limiter, store } = await startProcess();
    const bans = bansInMemory(db, limiter, () => clock.now);
    const key = { subject: 'project:1', keyId: '1' };
    await ban(limiter);
    await store.flush();
    expect(await bans.isBanned(key)).toBe(true);
    limiter.charge(charge({ quota: NONE, keyId: '2' }));
    const writing = store.flush();
    await bans.lift(key);
    expect(await bans.isBanned(key)).toBe(false);
    await writing;
    const { limiter: restarted } = await startProcess();
    expect(restarted.peek(charge({ quota: NONE })).ban).toMatchObject({ strikes: 0, untilSeconds: null });
  });

  test('Limits-Stored-11: a stored ban of a clock that was ahead is none after a restart, and none for the command line', async () => {
    clock.now += DAY_MS;
    const before = await startProcess();
    await ban(before.limiter);
    await before.store.flush();
    clock.now -= DAY_MS;
    const after = await startProcess();
    expect(after.limiter.charge(charge()).admitted).toBe(true);
    const bans = await readBans({ redisUrl: null, db }, { subject: 'project:1', keyIds: ['1'] }, clock.now);
    expect(bans.get('1')).toEqual(banStatus(NO_RECORD, clock.now));
  });

  test('Limits-Stored-3: expired windows are not restored, and forgotten bans leave the database', async () => {
    const before = await startProcess();
    before.limiter.charge(charge());
    await ban(before.limiter);
    await before.store.flush();
    clock.now += DAY_MS;
    const after = await startProcess();
    expect(after.limiter.subjectCount).toBe(0);
    expect(after.limiter.peek(charge()).ban).toEqual(banStatus(NO_RECORD, clock.now));
    expect(await db.repository(RateCounter).count()).toBe(0);
  });

  test('Limits-Stored-4: addresses are not stored', async () => {
    const { limiter, store } = await startProcess();
    limiter.charge(charge({ subject: 'address:192.0.2.1', keyId: null }));
    await store.flush();
    expect(await db.repository(RateCounter).count()).toBe(0);
  });

  test('Limits-Stored-5: only changed counters are written again', async () => {
    const { limiter, store } = await startProcess();
    limiter.charge(charge({ subject: 'project:1' }));
    limiter.charge(charge({ subject: 'project:2' }));
    await store.flush();
    await db.repository(RateCounter).clear();
    limiter.charge(charge({ subject: 'project:2' }));
    await store.flush();
    expect(await db.repository(RateCounter).find()).toMatchObject([
      { name: 'project:2', value: { minuteUsed: 2 } },
    ]);
  });

  test.each(['stored already', 'not yet stored'])(
    'Limits-Stored-6: a ban lifted by another process, %s, is forgotten by the process that counts',
    async (when) => {
      const { limiter, store } = await startProcess();
      await ban(limiter);
      if (when === 'stored already') await store.flush();
      await liftStoredBan(db, '1');
      await liftStoredBan(db, 'unknown');
      await store.flush();
      expect(limiter.charge(charge()).admitted).toBe(true);
      expect(await db.repository(RateCounter).count()).toBe(0);
      await store.flush();
      const after = await startProcess();
      expect(after.limiter.peek(charge()).ban).toEqual(banStatus(NO_RECORD, clock.now));
    },
  );

  test('Limits-Stored-7: a key whose ban is forgotten leaves no row', async () => {
    const { limiter, store } = await startProcess();
    await ban(limiter);
    await store.flush();
    clock.now += 5 * HOUR_MS;
    for (let request = 0; request < 2_000; request += 1) limiter.charge(charge({ keyId: null }));
    await store.flush();
    expect(await db.repository(RateCounter).countBy({ name: Like('ban:%') })).toBe(0);
  });

  test('Limits-Stored-8: a failing database stops no decision, and gets all counts later', async () => {
    const { limiter, store } = await startProcess();
    await db.close();
    for (let round = 0; round < 3; round += 1) {
      for (let index = 0; index < 600; index += 1) {
        expect(limiter.charge(charge({ subject: `project:${index}` })).admitted).toBe(true);
      }
      await ban(limiter, '9');
      await expect(store.flush()).rejects.toThrow();
    }
    db = await Database.open(target, DATABASE_SCHEMA);
    await new CounterStore(db, limiter, () => clock.now).flush();
    const rows = await db.repository(RateCounter).findBy({ name: Like('project:%') });
    expect(rows).toHaveLength(600);
    expect(rows.every(({ value }) => (value as Usage).dayUsed === 3)).toBe(true);
    expect(await db.repository(RateCounter).countBy({ name: 'ban:9' })).toBe(1);
  });

  test('Limits-Stored-9: a count whose write failed is written later, also without another request', async () => {
    const { limiter, store } = await startProcess();
    limiter.charge(charge());
    await ban(limiter, '9');
    const { manager } = db.repository(RateCounter);
    // Reads do not name this column, so exactly the write fails.
    await manager.query('ALTER TABLE rate_counters RENAME COLUMN end_ms TO away');
    await expect(store.flush()).rejects.toThrow();
    await manager.query('ALTER TABLE rate_counters RENAME COLUMN away TO end_ms');
    await store.flush();
    const rows = await db.repository(RateCounter).find({ order: { name: 'ASC' } });
    expect(rows).toMatchObject([{ name: 'ban:9' }, { value: { dayUsed: 1 } }]);
  });
});
