import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { OrderLog, type PlannedOrder } from '../../src/domains/certificates/orders/order-log.js';
import { AcmeOrder } from '../../src/domains/certificates/store/acme-order.entity.js';
import { loadConfig } from '../../src/ground/config/config.js';
import { Database } from '../../src/ground/database/database.js';
import { IdGenerator } from '../../src/ground/kernel/ids.js';
import { migrate } from '../../src/ground/migrating/migrate.js';
import { createTestDatabase, databaseKinds, type TestDatabase } from '../support/databases.js';
import type { SpendingOrder } from '../support/domains/order-process.js';
import { DATABASE_SCHEMA } from '../support/gateway/tested-gateway.js';

const START_MS = Date.UTC(2026, 0, 5, 12);
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const WEEK_MS = 7 * 24 * HOUR_MS;

const order = (hostname: string, isRenewal = false): PlannedOrder => ({
  domainId: 1n,
  projectId: 1n,
  hostname,
  registrableDomain: hostname.split('.').slice(-2).join('.'),
  isRenewal,
  isCertified: isRenewal,
  sealedKey: null,
});
const many = (count: number, hostname: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => order(hostname(index)));
/** Let's Encrypt's, which are the defaults. */
const LIMITS = { ordersIn3Hours: 300, certificatesInAWeek: 50 };
/** A third of the orders is more than the certificates of a domain. */
const RACE_LIMITS = { ordersIn3Hours: 60, certificatesInAWeek: 20 };

describe.each(databaseKinds())('on %s', (kind) => {
  let database: TestDatabase;
  let db: Database;
  let ids: IdGenerator;
  let log: OrderLog;
  let nowMs = START_MS;
  const now = () => nowMs;
  beforeAll(async () => {
    database = await createTestDatabase(kind);
    const target = loadConfig({ DATABASE_URL: database.url }).database;
    await migrate(target, DATABASE_SCHEMA);
    db = await Database.open(target, DATABASE_SCHEMA);
    ids = new IdGenerator(now);
    log = new OrderLog(db, ids, LIMITS, now);
  });
  afterAll(async () => {
    await db.close();
    await database.remove();
  });
  beforeEach(async () => {
    nowMs = START_MS;
    await db.repository(AcmeOrder).clear();
  });

  /** Logs one order per minute. */
  async function spend(orders: PlannedOrder[], outcome: AcmeOrder['outcome']): Promise<void> {
    const rows = orders.map(({ isCertified: _, ...planned }) => {
      nowMs += MINUTE_MS;
      return { id: ids.next(), ...planned, startedAtMs: nowMs, outcome };
    });
    await db.repository(AcmeOrder).insert(rows);
  }

  /** Returns when a refused order would fit, and why it was refused; null = it fits now. */
  async function refusal(
    planned: PlannedOrder,
    orders = log,
  ): Promise<{ retryAtMs: number; cause: string } | null> {
    try {
      const id = await orders.logOrder(planned);
      await db.repository(AcmeOrder).delete({ id });
      return null;
    } catch (error) {
      const { failure } = error as { failure: { code: string; retryAtMs: number; cause: string } };
      expect(failure.code).toBe('CA_RATE_LIMITED');
      return { retryAtMs: failure.retryAtMs, cause: failure.cause };
    }
  }
  const freeAtMs = async (planned: PlannedOrder) => (await refusal(planned))?.retryAtMs ?? null;

  test('an order that the CA refused or could not answer counts nowhere', async () => {
    for (const outcome of ['CA_DOWN', 'CA_RATE_LIMITED', 'CA_REJECTED', 'CA_PAUSED']) {
      await spend(
        many(100, () => 'shop.away.test'),
        outcome,
      );
    }
    nowMs = START_MS + 2 * HOUR_MS;
    expect(await freeAtMs(order('shop.away.test'))).toBeNull();
  });

  test('a registered domain gets 45 new certificates a week; failed orders do not count', async () => {
    await spend(
      many(60, (index) => `shop${index}.many.test`),
      'CAA_BLOCKS_CA',
    );
    await spend(
      many(45, (index) => `shop${index}.many.test`),
      'issued',
    );
    nowMs = START_MS + 4 * HOUR_MS;
    expect(await freeAtMs(order('another.many.test'))).toBe(START_MS + 61 * MINUTE_MS + WEEK_MS);
    expect(await freeAtMs(order('shop1.many.test', true))).toBeNull();
    expect(await freeAtMs(order('another.few.test'))).toBeNull();
  });

  test('Renewal-3: a name that has had a certificate is exempt from the limit of its registered domain, also when its order names none', async () => {
    const known = { ...order('shop0.many.test'), isCertified: true };
    await spend(
      many(45, (index) => `shop${index}.many.test`),
      'issued',
    );
    expect(await freeAtMs(known)).toBeNull();
    await spend([known, known, known], 'issued');
    expect(await freeAtMs(known)).toBeNull();
  });

  test('an order in flight counts as issued, for an hour', async () => {
    await spend(
      many(44, (index) => `shop${index}.flight.test`),
      'issued',
    );
    await spend([order('shop.flight.test')], null);
    const free = await freeAtMs(order('next.flight.test'));
    expect(free).toBe(START_MS + 45 * MINUTE_MS + HOUR_MS);
    nowMs = free ?? 0;
    expect(await freeAtMs(order('next.flight.test'))).toBeNull();
  });

  test('a project places 100 orders in three hours; other projects and renewals are not blocked', async () => {
    await spend(
      many(100, (index) => `shop.own${index}.test`).map((planned) => ({ ...planned, projectId: 77n })),
      'issued',
    );
    const own = (isRenewal: boolean) => ({ ...order('next.own.test', isRenewal), projectId: 77n });
    const free = START_MS + MINUTE_MS + 3 * HOUR_MS;
    expect(await freeAtMs(own(false))).toBe(free);
    expect(await freeAtMs({ ...own(false), isCertified: true })).toBe(free);
    expect(await freeAtMs(own(true))).toBeNull();
    expect(await freeAtMs(order('others.test'))).toBeNull();
  });

  test('the whole platform places 270 orders in three hours', async () => {
    const rows = many(269, (index) => `shop.all${index}.test`).map((planned, index) => ({
      ...planned,
      projectId: BigInt(index + 2),
    }));
    await spend(rows.slice(0, 200), 'issued');
    nowMs = START_MS + HOUR_MS;
    await spend(rows.slice(200), 'CHALLENGE_UNREACHABLE');
    nowMs = START_MS + 2 * HOUR_MS;
    expect(await freeAtMs(order('first.new.test'))).toBeNull();
    await spend([order('first.new.test')], 'issued');
    expect(await freeAtMs(order('second.new.test'))).toBe(START_MS + MINUTE_MS + 3 * HOUR_MS);
    expect(await freeAtMs({ ...order('third.new.test'), isCertified: true })).toBeNull();
  });

  test('Orders-1: the limits are settings, and a refusal claims none of them for the authority', async () => {
    const few = new OrderLog(db, ids, { ordersIn3Hours: 300, certificatesInAWeek: 10 }, now);
    await spend(
      many(9, (index) => `shop${index}.few.test`),
      'issued',
    );
    expect(await refusal(order('next.few.test'), few)).toEqual({
      retryAtMs: START_MS + MINUTE_MS + WEEK_MS,
      cause:
        'There were 9 certificates for names of this registered domain in a week, and this platform orders no more.',
    });
    expect(await refusal(order('next.few.test'))).toBeNull();
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

  test('processes that order at the same moment share a limit: none exceeds it, and all of it is spent', async () => {
    const program = resolve('dist/test/support/domains/order-process.js');
    const children = Array.from({ length: 4 }, () =>
      fork(program, [database.url, JSON.stringify(RACE_LIMITS)]),
    );
    try {
      await Promise.all(children.map(isReady));
      const most = 0.9 * RACE_LIMITS.certificatesInAWeek;
      // Different hostnames of one registered domain.
      const race = (orders: number) =>
        spentBy(children, (index) => ({
          planned: { hostname: `shop-${index}.race.test`, registrableDomain: 'race.test' },
          orders,
        }));
      expect(await race(most - 1)).toBe(most);
      expect(await db.repository(AcmeOrder).countBy({ registrableDomain: 'race.test' })).toBe(most);
      expect(await race(1)).toBe(0);
      // The platform's limit, shared by projects.
      const all = await spentBy(children, (index) => ({
        planned: { hostname: `shop.race-${index}.test`, registrableDomain: `race-${index}.test` },
        orders: 15,
      }));
      expect(all + most).toBe(0.9 * RACE_LIMITS.ordersIn3Hours);
    } finally {
      for (const child of children) child.disconnect();
    }
  });
});

/** Returns how many orders of all processes were within the limits. */
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
