import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MemoryLimiter } from '../../src/request/rate-limit/memory/memory-limiter.js';
import type { Refused } from '../../src/request/rate-limit/rules/limiter.js';
import { PLANS } from '../../src/tenants/projects/plans.js';
import { charge, DAY_MS, HOUR_MS, MINUTE_MS, NOON_MS } from '../support/limiter/charges.js';

/** A limiter with a clock, and a project without any remaining quota, so that each request is refused. */
function offender() {
  const clock = { now: NOON_MS };
  const limiter = new MemoryLimiter(() => clock.now);
  const quota = { perMinute: 0, perDay: null };
  const ask = (connection: string | null = 'c1', keyId = '1') =>
    limiter.charge(charge({ quota, connection, keyId })) as Refused;
  /** Sends one request after the other until banned; returns the length of the ban in seconds. */
  const offend = () => {
    for (let sent = 0; sent < 20; sent += 1) {
      const decision = ask();
      if (decision.code === 'key_banned') return decision.retryAfterSeconds;
    }
    throw new Error('never banned');
  };
  const status = (keyId = '1') => limiter.peek(charge({ quota, keyId })).ban;
  return { clock, limiter, ask, offend, status };
}

test('Limits-Bans-2: the tenth request sent before Retry-After bans the key, and only its decision starts the ban', () => {
  const { ask, status } = offender();
  const answers = Array.from({ length: 13 }, () => ask());
  expect(answers.map(({ code }) => code)).toEqual([
    ...Array(10).fill('rate_limited_minute'),
    ...Array(3).fill('key_banned'),
  ]);
  expect(answers.map(({ startsBan }) => startsBan).indexOf(true)).toBe(10);
  expect(answers.filter(({ startsBan }) => startsBan)).toHaveLength(1);
  expect(answers.slice(0, 10).map(({ ban }) => ban?.strikes)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(status()).toEqual({ strikes: 0, untilSeconds: NOON_MS / 1000 + 60, nextStepMinutes: 5 });
});

test('Limits-Bans-3: bans last 1, 5, 30, 60 and again 60 minutes', () => {
  const { clock, offend } = offender();
  const minutes = Array.from({ length: 6 }, () => {
    const seconds = offend();
    clock.now += seconds * 1000;
    return seconds / 60;
  });
  expect(minutes).toEqual([1, 5, 30, 60, 60, 60]);
});

test('Limits-Bans-4: each quiet hour forgets one step and all strikes', () => {
  const { clock, offend, ask, status } = offender();
  for (let ban = 0; ban < 4; ban += 1) clock.now += offend() * 1000;
  expect(status()).toMatchObject({ strikes: 0, nextStepMinutes: 60 });
  clock.now += HOUR_MS - 1;
  expect(status()?.nextStepMinutes).toBe(60);
  clock.now += 1;
  expect(status()?.nextStepMinutes).toBe(30);
  clock.now += HOUR_MS;
  for (let strike = 0; strike < 6; strike += 1) ask();
  expect(status()).toEqual({ strikes: 5, untilSeconds: null, nextStepMinutes: 5 });
  clock.now += HOUR_MS;
  expect(status()).toEqual({ strikes: 0, untilSeconds: null, nextStepMinutes: 1 });
  expect(offend()).toBe(60);
});

test('Limits-Bans-5: requests during a ban neither spend nor extend it, and each answer has its end', () => {
  const { clock, limiter, offend } = offender();
  offend();
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

test('Limits-Bans-6: during a ban with a spent day Retry-After is the end of the day', () => {
  const limiter = new MemoryLimiter(() => NOON_MS);
  const request = charge({ quota: { perMinute: 9, perDay: 0 } });
  const answers = Array.from({ length: 11 }, () => limiter.charge(request) as Refused);
  expect(answers.at(-1)).toMatchObject({ code: 'key_banned', retryAfterSeconds: DAY_MS / 2 / 1000 });
});

describe('a burst that crosses the line is one offence', () => {
  test.each([
    ['300 requests, a connection each', 300, 300],
    ['300 requests through a pool of 50', 300, 50],
    ['100 requests through the 6 connections of a browser', 100, 6],
    ['100 requests over a connection that several requests share', 100, 0],
  ])('Limits-Bans-7: %s', (_, requests, connections) => {
    const { clock, ask, status } = offender();
    for (let sent = 0; sent < requests; sent += 1) {
      ask(connections === 0 ? null : `c${sent % connections}`);
      clock.now += 3;
    }
    expect(status()).toMatchObject({ strikes: 0, untilSeconds: null });
  });

  test('Limits-Bans-8: a client that continues one by one after the burst collects strikes at once', () => {
    const { ask, offend, status } = offender();
    for (let sent = 0; sent < 50; sent += 1) ask(`c${sent}`);
    ask('c1');
    ask('c1');
    expect(status()?.strikes).toBe(1);
    expect(offend()).toBe(60);
  });

  test('Limits-Bans-9: a client that opens a connection per request collects strikes a second later', () => {
    const { clock, ask, status } = offender();
    for (let sent = 0; sent < 5; sent += 1) ask(`c${sent}`);
    clock.now += 1_000;
    ask('d');
    expect(status()?.strikes).toBe(0);
    clock.now += 1;
    ask('e');
    expect(status()?.strikes).toBe(1);
  });
});

test('Limits-Bans-10: a smaller request that fits is admitted and is not a strike', () => {
  const limiter = new MemoryLimiter(() => NOON_MS);
  const quota = { perMinute: 10, perDay: null };
  limiter.charge(charge({ quota, cost: 8 }));
  expect(limiter.charge(charge({ quota, cost: 8 })).admitted).toBe(false);
  expect(limiter.charge(charge({ quota, cost: 2 }))).toMatchObject({ admitted: true, ban: { strikes: 0 } });
});

test('Limits-Bans-11: bans are per key: another key of the project is served', () => {
  const limiter = new MemoryLimiter(() => NOON_MS);
  const none = { perMinute: 0, perDay: 0 };
  for (let sent = 0; sent < 20; sent += 1) limiter.charge(charge({ quota: none }));
  expect(limiter.charge(charge())).toMatchObject({ code: 'key_banned' });
  expect(limiter.charge(charge({ keyId: '2' })).admitted).toBe(true);
});

test('Limits-Bans-12: unban ends the ban and forgets strikes and steps', () => {
  const { limiter, offend, status } = offender();
  offend();
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
  (aheadMs) => {
    const { clock, ask, offend, status } = offender();
    clock.now += aheadMs;
    offend();
    for (let sent = 0; sent < 5; sent += 1) ask('c1', '2');
    clock.now -= aheadMs;
    const none = { strikes: 0, untilSeconds: null, nextStepMinutes: 1 };
    for (const keyId of ['1', '2']) {
      expect(status(keyId)).toEqual(none);
      // The first refusal opens a block of its own.
      expect(ask('c1', keyId)).toMatchObject({ code: 'rate_limited_minute', ban: none });
      expect(ask('c1', keyId).ban?.strikes).toBe(1);
    }
  },
);

test('Limits-Bans-17: a ban of the longest step counts until its end, also when the clock steps back meanwhile', () => {
  const { clock, offend, ask } = offender();
  for (let ban = 0; ban < 3; ban += 1) clock.now += offend() * 1000;
  expect(offend()).toBe(3_600);
  clock.now += 10_000;
  expect(ask()).toMatchObject({ code: 'key_banned', retryAfterSeconds: 3_590 });
  clock.now -= 5_000;
  expect(ask()).toMatchObject({ code: 'key_banned', retryAfterSeconds: 3_595 });
});
