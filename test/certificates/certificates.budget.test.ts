import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DATABASE_SCHEMA } from '../../src/app/database-schema.js';
import { AcmeOrder } from '../../src/certificates/orders/acme-order.entity.js';
import { OrderBudget } from '../../src/certificates/orders/order-budget.js';
import { ORDER_LIMITS, type PlannedOrder } from '../../src/certificates/orders/order-limits.js';
import { OrderLog } from '../../src/certificates/orders/order-log.js';
import { loadConfig } from '../../src/config/config.js';
import { Database } from '../../src/database/database.js';
import { migrate } from '../../src/database/migrate.js';
import { IdGenerator } from '../../src/kernel/ids.js';
import { createTestDatabase, databaseKinds, type TestDatabase } from '../support/databases.js';
import type { SpendingOrder } from '../support/domains/order-process.js';

const START_MS = Date.UTC(2026, 0, 5, 12);
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const WEEK_MS = 7 * 24 * HOUR_MS;

const order = (hostname: string, isRenewal = false): PlannedOrder => ({
  hostname,
  registrableDomain: hostname.split('.').slice(-2).join('.'),
  projectId: 1n,
  isRenewal,
  isCertified: isRenewal,
});

test('every own limit is below that of the CA', () => {
  expect(ORDER_LIMITS).toHaveLength(5);
  for (const { most, mostOfCa } of ORDER_LIMITS) expect(most).toBeLessThan(mostOfCa);
});

describe.each(databaseKinds())('on %s', (kind) => {
  let database: TestDatabase;
  let db: Database;
  let nowMs = START_MS;
  let budget: OrderBudget;
  let log: OrderLog;
  beforeAll(async () => {
    database = await createTestDatabase(kind);
    const target = loadConfig({ DATABASE_URL: database.url }).database;
    await migrate(target, DATABASE_SCHEMA);
    db = await Database.open(target, DATABASE_SCHEMA);
    const now = () => nowMs;
    budget = new OrderBudget(db, now);
    log = new OrderLog(db, new IdGenerator(now), now);
  });
  afterAll(async () => {
    await db.close();
    await database.remove();
  });
  beforeEach(async () => {
    nowMs = START_MS;
    await db.repository(AcmeOrder).clear();
  });

  /** Places one order per minute. */
  async function spend(orders: PlannedOrder[], outcome: Parameters<OrderLog['logOutcome']>[1] | null) {
    for (const planned of orders) {
      nowMs += MINUTE_MS;
      const id = await log.logOrder(1n, planned);
      if (outcome !== null) await log.logOutcome(id, outcome);
    }
  }
  const many = (count: number, hostname: (index: number) => string, isRenewal = false) =>
    Array.from({ length: count }, (_, index) => order(hostname(index), isRenewal));

  /** Returns when a refused order would fit; null = it fits now. */
  async function freeAtMs(planned: PlannedOrder): Promise<number | null> {
    try {
      await budget.check(planned);
      return null;
    } catch (error) {
      const { code, retryAtMs } = (error as { failure: { code: string; retryAtMs: number } }).failure;
      expect(code).toBe('CA_RATE_LIMITED');
      return retryAtMs;
    }
  }

  test('three failed validations of a name in an hour block that name, and no other', async () => {
    const shop = order('shop.fail.test');
    await spend(
      many(2, () => 'shop.fail.test'),
      'CHALLENGE_UNREACHABLE',
    );
    expect(await freeAtMs(shop)).toBeNull();
    await spend([shop], 'CAA_BLOCKS_CA');
    const free = await freeAtMs(shop);
    expect(free).toBe(START_MS + MINUTE_MS + HOUR_MS);
    expect(await freeAtMs({ ...shop, isRenewal: true })).toBe(free);
    expect(await freeAtMs(order('www.fail.test'))).toBeNull();
    nowMs = free ?? 0;
    expect(await freeAtMs(shop)).toBeNull();
  });

  test('an order that the CA refused or could not answer counts nowhere', async () => {
    for (const outcome of ['CA_DOWN', 'CA_RATE_LIMITED', 'CA_REJECTED', 'CA_PAUSED'] as const) {
      await spend(
        many(10, () => 'shop.away.test'),
        outcome,
      );
    }
    expect(await freeAtMs(order('shop.away.test'))).toBeNull();
  });

  test('a name gets four new certificates a week; renewals do not count', async () => {
    const shop = order('shop.same.test');
    await spend(
      many(10, () => 'shop.same.test', true),
      'issued',
    );
    await spend(
      many(4, () => 'shop.same.test'),
      'issued',
    );
    expect(await freeAtMs(shop)).toBe(START_MS + 11 * MINUTE_MS + WEEK_MS);
    expect(await freeAtMs({ ...shop, isRenewal: true })).toBeNull();
    nowMs = START_MS + 11 * MINUTE_MS + WEEK_MS;
    expect(await freeAtMs(shop)).toBeNull();
  });

  test('a registered domain gets 45 new certificates a week', async () => {
    await spend(
      many(45, (index) => `shop${index}.many.test`),
      'issued',
    );
    expect(await freeAtMs(order('another.many.test'))).toBe(START_MS + MINUTE_MS + WEEK_MS);
    expect(await freeAtMs(order('shop1.many.test', true))).toBeNull();
    expect(await freeAtMs(order('another.few.test'))).toBeNull();
  });

  test('Renewal-3: a name that has had a certificate is exempt from all but its own limits, also when its order names none', async () => {
    const known = { ...order('shop0.many.test'), isCertified: true };
    await spend(
      many(45, (index) => `shop${index}.many.test`),
      'issued',
    );
    expect(await freeAtMs(known)).toBeNull();
    await spend([known, known, known], 'issued');
    expect(await freeAtMs(known)).toBe(START_MS + MINUTE_MS + WEEK_MS);
  });

  test('an order in flight counts as issued, for an hour', async () => {
    await spend(
      many(3, () => 'shop.flight.test'),
      'issued',
    );
    await spend([order('shop.flight.test')], null);
    const free = await freeAtMs(order('shop.flight.test'));
    expect(free).toBe(START_MS + 4 * MINUTE_MS + HOUR_MS);
    nowMs = free ?? 0;
    expect(await freeAtMs(order('shop.flight.test'))).toBeNull();
  });

  test('a project places 100 orders in three hours; other projects and renewals are not blocked', async () => {
    const rows = many(100, (index) => `shop.own${index}.test`).map((planned, index) => ({
      ...planned,
      projectId: 77n,
      id: BigInt(index + 1_001),
      domainId: 1n,
      startedAtMs: START_MS,
      outcome: 'issued',
    }));
    await db.repository(AcmeOrder).insert(rows);
    const own = (isRenewal: boolean) => ({ ...order('next.own.test', isRenewal), projectId: 77n });
    expect(await freeAtMs(own(false))).toBe(START_MS + 3 * HOUR_MS);
    expect(await freeAtMs({ ...own(false), isCertified: true })).toBe(START_MS + 3 * HOUR_MS);
    expect(await freeAtMs(own(true))).toBeNull();
    expect(await freeAtMs(order('others.test'))).toBeNull();
  });

  test('the whole platform places 250 orders in three hours', async () => {
    const rows = many(249, (index) => `shop.all${index}.test`).map((planned, index) => ({
      ...planned,
      projectId: BigInt(index + 2),
      id: BigInt(index + 1),
      domainId: 1n,
      startedAtMs: START_MS + index * 1_000,
      outcome: index % 2 === 0 ? 'issued' : 'CHALLENGE_UNREACHABLE',
    }));
    await db.repository(AcmeOrder).insert(rows);
    nowMs = START_MS + HOUR_MS;
    expect(await freeAtMs(order('first.new.test'))).toBeNull();
    await spend([order('first.new.test')], 'issued');
    expect(await freeAtMs(order('second.new.test'))).toBe(START_MS + 3 * HOUR_MS);
  });

  test('an order is deleted once no window reaches back to it', async () => {
    await spend(
      many(3, () => 'shop.old.test'),
      'issued',
    );
    nowMs += WEEK_MS;
    expect(await log.deleteOldOrders()).toBe(0);
    nowMs += 25 * HOUR_MS;
    expect(await log.deleteOldOrders()).toBe(3);
  });
  test('processes that order at the same moment share a budget: none exceeds it, and all of it is spent', async () => {
    const program = resolve('dist/test/support/domains/order-process.js');
    const children = Array.from({ length: 4 }, () => fork(program, [database.url]));
    try {
      await Promise.all(children.map(isReady));
      const [name = 0, domain = 0] = [ORDER_LIMITS[1]?.most, ORDER_LIMITS[2]?.most];
      const shop = { hostname: 'shop.race.test', registrableDomain: 'race.test' };
      expect(await spentBy(children, () => ({ planned: shop, orders: 10 }))).toBe(name);
      expect(await db.repository(AcmeOrder).countBy({ hostname: shop.hostname })).toBe(name);
      // Different hostnames of one registered domain: four of that domain's orders are spent.
      const spent = await spentBy(children, (index) => ({
        planned: { hostname: `shop-${index}.race.test`, registrableDomain: 'race.test' },
        orders: 4,
      }));
      expect(spent).toBe(4 * name);
      const rows = many(domain - 1 - 5 * name, (index) => `early-${index}.race.test`);
      nowMs = Date.now();
      for (const row of rows) await log.logOrder(1n, row);
      const last = await spentBy(children, (index) => ({
        planned: { hostname: `late-${index}.race.test`, registrableDomain: 'race.test' },
        orders: 4,
      }));
      expect(last).toBe(1);
    } finally {
      for (const child of children) child.disconnect();
    }
  });
});

/** Returns how many orders of all processes were within the budget. */
async function spentBy(children: ChildProcess[], order: (index: number) => SpendingOrder): Promise<number> {
  const answers = children.map(async (child, index) => {
    const answered = once(child, 'message');
    child.send(order(index));
    const [{ spent, faults }] = await answered;
    expect(faults).toEqual([]);
    return spent as number;
  });
  return (await Promise.all(answers)).reduce((sum, spent) => sum + spent, 0);
}

async function isReady(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`a process ended with ${code} before it was ready`);
  });
  await Promise.race([once(child, 'message'), ended]);
}
