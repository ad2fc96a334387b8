import { describe, expect, test } from '@jest/globals';
import type { Quota } from '../../src/ground/kernel/caller.js';
import { MemoryLimiter } from '../../src/request/rate-limit/memory/memory-limiter.js';
import { charge, DAY_MS, MINUTE_MS, NOON_MS } from '../support/limiter/charges.js';
import {
  backsOff,
  CLIENTS,
  type Client,
  JITTERS,
  type Run,
  repeats,
  run,
} from '../support/limiter/clients.js';
import { isLongRun } from '../support/long-run.js';

const SPENT_DAY = { perMinute: 60, perDay: 0 };
/** The clients spend each minute at once. */
const SHORT_MINUTES = { perMinute: 20, perDay: null };
const INSTANCES = [1, 4, 8];
const SEEDS = isLongRun ? 50 : 1;
/** Pauses of at most ten seconds are no exponential back-off: eight send as many requests as one every two seconds. */
const NOT_EIGHT = 'wget';
const SPREADS_MS = [0, 1_000, 5_000, 10_000, 30_000, 100_000];
const NEVER = { bannedAfterMs: null };

const simulate = (quota: Quota, given: Partial<Run> & { client: Client }) => {
  const clock = { now: NOON_MS };
  const limiter = new MemoryLimiter(() => clock.now);
  const defaults = {
    instances: 1,
    startWithinMs: 0,
    againMs: null,
    restartMs: null,
    lastsMs: 10 * MINUTE_MS,
    seed: 1,
  };
  return run(limiter, clock, charge({ quota }), { ...defaults, ...given });
};

describe.each(Object.entries(CLIENTS))('%s', (name, client) => {
  test.each(INSTANCES.filter((instances) => instances < 8 || name !== NOT_EIGHT))(
    'Strikes-1: %i with one key are not banned in ten minutes of a spent day',
    async (instances) => {
      for (const startWithinMs of SPREADS_MS) {
        for (let seed = 0; seed < SEEDS; seed += 1) {
          expect(await simulate(SPENT_DAY, { client, instances, startWithinMs, seed })).toMatchObject(NEVER);
        }
      }
    },
  );

  test.each(INSTANCES)(
    'Strikes-2: %i that call every minute are not banned on a day that is spent',
    async (instances) => {
      for (const startWithinMs of [0, MINUTE_MS]) {
        const given = { client, instances, startWithinMs, restartMs: MINUTE_MS, lastsMs: DAY_MS };
        expect(await simulate(SPENT_DAY, given)).toMatchObject(NEVER);
      }
    },
  );

  test.each(INSTANCES)(
    'Strikes-3: %i that call every second, and rest a minute after giving up, are not banned in spent minutes',
    async (instances) => {
      const given = { client, instances, startWithinMs: 1_000, againMs: 1_000, restartMs: MINUTE_MS };
      for (let seed = 0; seed < SEEDS; seed += 1) {
        expect(await simulate(SHORT_MINUTES, { ...given, seed })).toMatchObject(NEVER);
      }
    },
  );
});

describe.each(JITTERS)('exponential back-off from 1 s, jitter: %s', (jitter) => {
  const clients = [1.5, 2, 3].flatMap((factor) =>
    [30_000, 60_000, DAY_MS].map((capMs) => backsOff({ factor, capMs, jitter })),
  );

  test.each(INSTANCES)(
    'Strikes-4: %i with one key are never banned, whenever they begin',
    async (instances) => {
      for (const client of clients) {
        for (const startWithinMs of SPREADS_MS) {
          for (let seed = 0; seed < SEEDS; seed += 1) {
            const seen = await simulate(SPENT_DAY, { client, instances, startWithinMs, seed });
            expect(seen).toMatchObject(NEVER);
          }
        }
      }
    },
  );

  test('Strikes-5: eight with one key are never banned, for a whole day that is spent, and a whole day of spent minutes', async () => {
    for (const client of clients) {
      const given = { client, instances: 8, startWithinMs: 10_000, lastsMs: DAY_MS };
      expect(await simulate(SPENT_DAY, given)).toMatchObject(NEVER);
      expect(await simulate(SHORT_MINUTES, { ...given, againMs: 1_000, lastsMs: DAY_MS / 4 })).toMatchObject(
        NEVER,
      );
    }
  });
});

test.each([1, 10, 20, 50, 100, 150, 175])(
  'Strikes-6: a request every %i ms and the time of its answer is banned within ten seconds',
  async (everyMs) => {
    for (const instances of [1, 4]) {
      for (let seed = 0; seed < SEEDS; seed += 1) {
        const { bannedAfterMs } = await simulate(SPENT_DAY, { client: repeats(everyMs), instances, seed });
        expect(bannedAfterMs ?? Infinity).toBeLessThanOrEqual(10_000);
      }
    }
  },
);

test.each([200, 300, 500, 1_000, 1_500, 1_950])(
  'Strikes-7: a request every %i ms and the time of its answer is banned within two minutes',
  async (everyMs) => {
    for (const instances of INSTANCES) {
      for (const startWithinMs of [0, 5_000]) {
        for (let seed = 0; seed < SEEDS; seed += 1) {
          const given = { client: repeats(everyMs), instances, startWithinMs, seed };
          const { bannedAfterMs } = await simulate(SPENT_DAY, given);
          expect(bannedAfterMs ?? Infinity).toBeLessThanOrEqual(2 * MINUTE_MS);
        }
      }
    }
  },
);

test('Strikes-8: a client that begins to hammer long after the first 429 is banned within ten seconds', async () => {
  const clock = { now: NOON_MS };
  const limiter = new MemoryLimiter(() => clock.now);
  const request = charge({ quota: SPENT_DAY });
  const shared = { instances: 1, startWithinMs: 0, againMs: null, restartMs: null, seed: 1 };
  const patient = await run(limiter, clock, request, { ...shared, client: backsOff(), lastsMs: DAY_MS / 4 });
  expect(patient.strikes).toBe(0);
  const hammering = await run(limiter, clock, request, {
    ...shared,
    client: repeats(150),
    lastsMs: MINUTE_MS,
  });
  expect(hammering.bannedAfterMs ?? Infinity).toBeLessThanOrEqual(10_000);
});
