import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MemoryLimiter } from '../../src/request/rate-limit/memory/memory-limiter.js';
import type { Refused } from '../../src/request/rate-limit/rules/limiter.js';
import { PLANS } from '../../src/tenants/projects/plans.js';
import {
  charge,
  DAY_MS,
  HAMMERING_MS,
  HOUR_MS,
  hammer,
  MINUTE_MS,
  NOON_MS,
} from '../support/limiter/charges.js';

/** A limiter with a clock, and a project without any remaining quota, so that each request is refused. */
function offender() {
  const clock = { now: NOON_MS };
  const limiter = new MemoryLimiter(() => clock.now);
  const quota = { perMinute: 0, perDay: null };
  const ask = (keyId = '1') => limiter.charge(charge({ quota, keyId })) as Refused;
  /** Hammers until this strike, or until banned. Returns Retry-After in seconds. */
  const offend = async (strike?: number, keyId = '1') =>
    (await hammer(limiter, clock, charge({ quota, keyId }), strike)).retryAfterSeconds;
  /** Is banned, and waits for the end. */
  const sitOut = async () => {
    const seconds = await offend();
    clock.now += seconds * 1000;
    return seconds;
  };
  const status = (keyId = '1') => limiter.peek(charge({ quota, keyId })).ban;
  return { clock, limiter, ask, offend, sitOut, status };
}

test('Limits-Bans-2: the tenth strike bans the key, each strike is in its decision, and only the last starts the ban', () => {
  const { clock, ask, status } = offender();
  const answers = Array.from({ length: 58 }, () => {
    const answer = ask();
    clock.now += HAMMERING_MS;
    return answer;
  });
  const free = 45;
  expect(answers.map(({ strike }) => strike)).toEqual([
    ...Array(free).fill(null),
    ...[1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    ...Array(3).fill(null),
  ]);
  expect(answers.map(({ code }) => code)).toEqual([
    ...Array(free + 9).fill('rate_limited_minute'),
    ...Array(4).fill('key_banned'),
  ]);
  expect(answers.filter(({ startsBan }) => startsBan)).toEqual([answers[free + 9]]);
  expect(answers.slice(free, free + 9).map(({ ban }) => ban?.strikes)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  const untilSeconds = Math.ceil((NOON_MS + (free + 9) * HAMMERING_MS) / 1000 + 60);
  expect(status()).toEqual({ strikes: 0, untilSeconds, nextStepMinutes: 5 });
});

test('Limits-Bans-3: bans last 1, 5, 30, 60 and again 60 minutes', async () => {
  const { sitOut } = offender();
  const minutes: number[] = [];
  while (minutes.length < 6) minutes.push((await sitOut()) / 60);
  expect(minutes).toEqual([1, 5, 30, 60, 60, 60]);
});

test('Limits-Bans-4: each quiet hour forgets one step and all strikes', async () => {
  const { clock, offend, sitOut, status } = offender();
  for (let ban = 0; ban < 4; ban += 1) await sitOut();
  expect(status()).toMatchObject({ strikes: 0, nextStepMinutes: 60 });
  clock.now += HOUR_MS - 1;
  expect(status()?.nextStepMinutes).toBe(60);
  clock.now += 1;
  expect(status()?.nextStepMinutes).toBe(30);
  clock.now += HOUR_MS;
  await offend(5);
  expect(status()).toEqual({ strikes: 5, untilSeconds: null, nextStepMinutes: 5 });
  clock.now += HOUR_MS;
  expect(status()).toEqual({ strikes: 0, untilSeconds: null, nextStepMinutes: 1 });
  expect(await offend()).toBe(60);
});

test('Limits-Bans-5: requests during a ban neither spend nor extend it, and each answer has its end', async () => {
  const { clock, limiter, offend } = offender();
  await offend();
  for (let second = 0; second < 60; second += 1) {
    const answer = limiter.charge(charge({ quota: PLANS.FREE }));
    expect(answer).toMatchObject({
      code: 'key_banned',
      retryAfterSeconds: 60 - second,
      startsBan: false,
      minute: { remaining: 60 },
    });
    clock.now += 1000;
  }
  expect(limiter.charge(charge({ quota: PLANS.FREE })).admitted).toBe(true);
});

test('Limits-Bans-6: during a ban with a spent day Retry-After is the end of the day', async () => {
  const clock = { now: NOON_MS };
  const limiter = new MemoryLimiter(() => clock.now);
  const banned = await hammer(limiter, clock, charge({ quota: { perMinute: 9, perDay: 0 } }));
  const retryAfterSeconds = Math.ceil((NOON_MS + DAY_MS / 2 - clock.now) / 1000);
  expect(banned).toMatchObject({ code: 'key_banned', retryAfterSeconds });
});

describe('a burst that crosses the line is one offence', () => {
  test.each([100, 300, 10_000])('Limits-Bans-7: %i requests within a second', async (requests) => {
    const { clock, ask, offend, status } = offender();
    for (let sent = 0; sent < requests; sent += 1) {
      ask();
      clock.now += 1_000 / requests;
    }
    expect(status()).toMatchObject({ strikes: 0, untilSeconds: null });
    // A client that continues is banned like any other.
    expect(await offend()).toBe(60);
    expect(clock.now - NOON_MS).toBeLessThan(10_000);
  });
});

test('Limits-Bans-10: a smaller request that fits is admitted and is not a strike', () => {
  const limiter = new MemoryLimiter(() => NOON_MS);
  const quota = { perMinute: 10, perDay: null };
  limiter.charge(charge({ quota, cost: 8 }));
  expect(limiter.charge(charge({ quota, cost: 8 })).admitted).toBe(false);
  expect(limiter.charge(charge({ quota, cost: 2 }))).toMatchObject({ admitted: true, ban: { strikes: 0 } });
});

test('Limits-Bans-11: bans are per key: another key of the project is served', async () => {
  const { limiter, offend } = offender();
  await offend();
  expect(limiter.charge(charge())).toMatchObject({ code: 'key_banned' });
  expect(limiter.charge(charge({ keyId: '2' })).admitted).toBe(true);
});

test('Limits-Bans-12: unban ends the ban and forgets strikes and steps', async () => {
  const { limiter, offend, status } = offender();
  await offend();
  limiter.unban({ keyId: '1' });
  expect(status()).toEqual({ strikes: 0, untilSeconds: null, nextStepMinutes: 1 });
  expect(limiter.charge(charge()).admitted).toBe(true);
});

test.each(['FREE', 'PRO', 'BUSINESS'] as const)(
  'Limits-Bans-13: a client that obeys Retry-After gets exactly the day quota on %s and never a strike',
  (plan) => {
    let now = Math.floor(NOON_MS / DAY_MS) * DAY_MS;
    const endOfDay = now + DAY_MS;
    const limiter = new MemoryLimiter(() => now);
    let admitted = 0;
    while (now < endOfDay) {
      const decision = limiter.charge(charge({ quota: PLANS[plan] }));
      expect(decision.ban).toEqual({ strikes: 0, untilSeconds: null, nextStepMinutes: 1 });
      if (decision.admitted) admitted += 1;
      now += decision.admitted ? 20 : decision.retryAfterSeconds * 1000;
    }
    expect(admitted).toBe(PLANS[plan].perDay);
    expect(limiter.charge(charge({ quota: PLANS[plan] })).admitted).toBe(true);
  },
);

test('Limits-Bans-14: a client that waits for Retry-After gets no strike, whatever other keys of the project do', () => {
  const neighbour = fc.record({
    advanceMs: fc.nat(MINUTE_MS),
    cost: fc.integer({ min: 1, max: 6 }),
    requests: fc.nat(4),
  });
  fc.assert(
    fc.property(fc.array(neighbour, { maxLength: 60 }), (steps) => {
      let now = NOON_MS;
      let mayAskAtMs = 0;
      const limiter = new MemoryLimiter(() => now);
      const quota = { perMinute: 6, perDay: 30 };
      for (const { advanceMs, cost, requests } of steps) {
        now += advanceMs;
        for (let sent = 0; sent < requests; sent += 1) limiter.charge(charge({ quota, keyId: '2' }));
        if (now < mayAskAtMs) continue;
        const decision = limiter.charge(charge({ quota, cost }));
        expect(decision.ban).toMatchObject({ strikes: 0, untilSeconds: null });
        if (!decision.admitted) mayAskAtMs = now + decision.retryAfterSeconds * 1000;
      }
    }),
  );
});

test.each([DAY_MS, 61 * MINUTE_MS])(
  'Limits-Bans-16: a ban, strikes and a block of a clock that was %i ms ahead mean nothing',
  async (aheadMs) => {
    const { clock, ask, offend, status } = offender();
    clock.now += aheadMs;
    await offend();
    await offend(5, '2');
    clock.now -= aheadMs;
    const none = { strikes: 0, untilSeconds: null, nextStepMinutes: 1 };
    for (const keyId of ['1', '2']) {
      expect(status(keyId)).toEqual(none);
      // The first refusal opens a new block.
      expect(ask(keyId)).toMatchObject({ code: 'rate_limited_minute', ban: none });
      await offend(1, keyId);
      expect(status(keyId)?.strikes).toBe(1);
    }
  },
);

test('Limits-Bans-17: a ban of the longest step counts until its end, also when the clock steps back meanwhile', async () => {
  const { clock, offend, sitOut, ask } = offender();
  for (let ban = 0; ban < 3; ban += 1) await sitOut();
  expect(await offend()).toBe(3_600);
  clock.now += 10_000;
  expect(ask()).toMatchObject({ code: 'key_banned', retryAfterSeconds: 3_590 });
  clock.now -= 5_000;
  expect(ask()).toMatchObject({ code: 'key_banned', retryAfterSeconds: 3_595 });
});
