import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { WaitTooLong } from '../../client/client.js';
import { SimulatedTime } from '../support/client/simulated-time.js';
import { toysClient } from '../support/client/toys-client.js';
import { rest } from '../support/http/client.js';
import { startApp, TEST_ACTOR, type Tenant, type TestApp } from '../support/start-app.js';

const MINUTE_MS = 60_000;
const MINUTES = 10;
const PER_MINUTE = 60;

let app: TestApp;
let tenant: Tenant;
let time: SimulatedTime;
beforeAll(async () => {
  app = await startApp({ now: Date.UTC(2026, 10, 28, 12) });
});
afterAll(() => app.stop());

/** A project at the start of a minute. */
async function newTenant(perDay = 1_000_000): Promise<void> {
  app.clock.now = Math.ceil((app.clock.now + 1) / MINUTE_MS) * MINUTE_MS;
  tenant = await app.tenant();
  await app.app.services.projects.change(TEST_ACTOR, tenant.slug, { perMinute: PER_MINUTE, perDay });
  time = new SimulatedTime(app.clock);
}

/** Counts what the gateway answers. */
function countedFetch(statuses: Record<number, number>) {
  return async (url: string, init: RequestInit) => {
    const response = await time.fetch(url, init);
    statuses[response.status] = (statuses[response.status] ?? 0) + 1;
    return response;
  };
}

const client = (options: Parameters<typeof toysClient>[2] = {}) =>
  toysClient(app.url, tenant.token, { clock: time, fetch: time.fetch, ...options });

async function expectNoStrike(): Promise<void> {
  const { ban } = await time.run(client().getRateLimit());
  expect(ban).toMatchObject({ strikes: 0, untilSeconds: null });
}

test('Client-1: ten minutes at three times the quota use all of it, nothing is refused, and what would wait too long says until when', async () => {
  await newTenant();
  const statuses: Record<number, number> = {};
  const api = client({ fetch: countedFetch(statuses) });
  const endMs = app.clock.now + MINUTES * MINUTE_MS;
  const calls: Promise<unknown>[] = [];
  const tooLong: WaitTooLong[] = [];
  const demand = async () => {
    while (app.clock.now < endMs) {
      const call = api.toys.list({ limit: 1 }).catch((error) => {
        if (!(error instanceof WaitTooLong)) throw error;
        tooLong.push(error);
      });
      calls.push(call);
      await time.sleep(MINUTE_MS / (3 * PER_MINUTE));
    }
  };
  await time.run(demand());
  const used = { ...statuses };
  await time.run(Promise.all(calls));
  expect(calls.length).toBeGreaterThan(2.9 * PER_MINUTE * MINUTES);
  expect(used).toEqual({ 200: PER_MINUTE * MINUTES });
  expect(tooLong.length).toBeGreaterThan(PER_MINUTE * MINUTES);
  for (const { until, code } of tooLong) {
    // Its seconds are whole.
    expect([code, until.getTime() % MINUTE_MS < 1_000]).toEqual(['rate_limited_minute', true]);
  }
  await expectNoStrike();
});

test('Client-2: eight clients of one process with one key use the whole quota, and nothing is refused', async () => {
  await newTenant();
  const statuses: Record<number, number> = {};
  const endMs = app.clock.now + 3 * MINUTE_MS;
  const ask = async () => {
    const api = client({ fetch: countedFetch(statuses), waitAtMostSeconds: 3600 });
    while (app.clock.now < endMs) await api.toys.list({ limit: 1 });
  };
  await time.run(Promise.all(Array.from({ length: 8 }, ask)));
  // The requests that waited for the end of the last minute were sent after it.
  expect(statuses).toEqual({ 200: PER_MINUTE * 3 + 8 });
  await expectNoStrike();
});

test('Client-22: eight programs with one key, which know nothing of one another, use the quota and make no strike in ten minutes', async () => {
  await newTenant();
  const statuses: Record<number, number> = {};
  const endMs = app.clock.now + MINUTES * MINUTE_MS;
  const ask = async () => {
    // Each program has its own clock: clients with the same clock share a gate.
    const clock = { now: () => time.now(), after: (ms: number, work: () => void) => time.after(ms, work) };
    const api = client({ clock, fetch: countedFetch(statuses), waitAtMostSeconds: 3600 });
    while (app.clock.now < endMs) await api.toys.list({ limit: 1 });
  };
  await time.run(Promise.all(Array.from({ length: 8 }, ask)));
  expect(statuses[200]).toBeGreaterThanOrEqual(0.99 * PER_MINUTE * MINUTES);
  await expectNoStrike();
});

test('Client-3: once the day is spent each call fails at once, unsent, with the end of the day; a free operation that sees a larger quota opens the way', async () => {
  const perDay = 70;
  await newTenant(perDay);
  const statuses: Record<number, number> = {};
  const patient = client({ fetch: countedFetch(statuses), waitAtMostSeconds: 3600 });
  await time.run(Promise.all(Array.from({ length: perDay }, () => patient.toys.list({ limit: 1 }))));
  const api = client({ fetch: countedFetch(statuses) });
  const burst = await time.run(
    Promise.all(Array.from({ length: 50 }, () => api.toys.list().catch((error) => error))),
  );
  for (const error of burst) {
    expect(error).toBeInstanceOf(WaitTooLong);
    const until = new Date(Date.UTC(2026, 10, 29));
    expect(error).toMatchObject({ code: 'rate_limited_day', status: 429, until });
    expect(error.retryAfterSeconds).toBe((until.getTime() - app.clock.now) / 1000);
  }
  expect(statuses).toEqual({ 200: perDay });
  await app.app.services.projects.change(TEST_ACTOR, tenant.slug, { perMinute: PER_MINUTE, perDay: 200 });
  app.clock.now += MINUTE_MS;
  await time.run(api.getRateLimit());
  expect(await time.run(api.toys.list())).toEqual([]);
  await expectNoStrike();
});

test('Client-23: a call that fails because it would wait too long leaves no timer, which would keep the program alive', async () => {
  await newTenant(1);
  let timers = 0;
  const clock = {
    now: () => time.now(),
    after: (ms: number, work: () => void) => {
      timers += 1;
      let isOver = false;
      const end = () => {
        if (!isOver) timers -= 1;
        isOver = true;
      };
      const cancel = time.after(ms, () => {
        end();
        work();
      });
      return () => {
        end();
        cancel();
      };
    },
  };
  const api = client({ clock });
  await time.run(api.toys.list());
  await expect(time.run(api.toys.list())).rejects.toBeInstanceOf(WaitTooLong);
  expect(timers).toBe(0);
});

test('Client-24: a bound that is no number is refused, and undefined is the default', async () => {
  await newTenant();
  expect(
    await time.run(client({ waitAtMostSeconds: undefined, timeoutSeconds: undefined }).toys.list()),
  ).toEqual([]);
  const wrong = client({ waitAtMostSeconds: Number.NaN }).toys.list();
  await expect(wrong).rejects.toThrow('waitAtMostSeconds must be a number of seconds, 0 or more; got NaN.');
  expect(() => client({ timeoutSeconds: Number.NaN })).toThrow('timeoutSeconds must be');
});

test('Client-25: a write without an answer fails with its Idempotency-Key', async () => {
  await newTenant();
  const fetch = async () => {
    throw new TypeError('cut');
  };
  const lost = time.run(client({ fetch, waitAtMostSeconds: 0 }).toys.create({ name: 'Rex', categoryId: 1n }));
  await expect(lost).rejects.toMatchObject({
    code: 'no_answer',
    idempotencyKey: expect.stringMatching(/^\w{32}$/),
  });
});

test('Client-4: a program that finds the quota spent by another one waits out Retry-After, with all its calls', async () => {
  await newTenant();
  for (let at = 0; at < PER_MINUTE; at += 1) await rest(app.url, '/v1/toys', { token: tenant.token });
  const startMs = app.clock.now;
  const statuses: Record<number, number> = {};
  const api = client({ fetch: countedFetch(statuses) });
  await time.run(Promise.all(Array.from({ length: 20 }, () => api.toys.list())));
  expect(statuses).toEqual({ 200: 20, 429: 1 });
  expect(app.clock.now - startMs).toBe(MINUTE_MS);
  await expectNoStrike();
});
