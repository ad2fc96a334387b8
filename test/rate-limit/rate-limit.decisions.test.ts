import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Quota } from '../../src/ground/kernel/caller.js';
import { durationInWords } from '../../src/ground/kernel/duration.js';
import { MemoryLimiter } from '../../src/request/rate-limit/memory/memory-limiter.js';
import { bindingWindow, type Decision } from '../../src/request/rate-limit/rules/limiter.js';
import { addressSubject, projectSubject } from '../../src/request/rate-limit/rules/subjects.js';
import { PLANS } from '../../src/tenants/projects/plans.js';
import { charge, DAY_MS, MINUTE_MS, NOON_MS } from '../support/limiter/charges.js';

const QUOTAS: Quota[] = [
  { perMinute: 5, perDay: 12 },
  { perMinute: 3, perDay: 40 },
  { perMinute: 8, perDay: 8 },
  { perMinute: 6, perDay: null },
  { perMinute: 0, perDay: 3 },
];

const STEP = fc.record({
  advanceMs: fc.oneof(
    fc.constant(0),
    fc.nat(2_000),
    fc.nat(90_000),
    fc.constantFrom(MINUTE_MS, DAY_MS / 3, DAY_MS - 1),
  ),
  cost: fc.oneof({ weight: 4, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.nat(9) }),
  quota: fc.nat(QUOTAS.length - 1),
  keepsQuota: fc.boolean(),
  isBanned: fc.constant(false),
  keyId: fc.constantFrom('1', '2', null),
});

interface Seen {
  decision: Decision;
  atMs: number;
  cost: number;
  quota: Quota;
}

/** Runs the steps through a limiter and passes each decision to `check`, with all earlier ones. */
function play(
  steps: Iterable<typeof STEP extends fc.Arbitrary<infer T> ? T : never>,
  check: (now: Seen, before: Seen[]) => void,
) {
  let now = NOON_MS;
  const limiter = new MemoryLimiter(() => now);
  const before: Seen[] = [];
  let quota = QUOTAS[0] as Quota;
  for (const step of steps) {
    now += step.advanceMs;
    if (!step.keepsQuota) quota = QUOTAS[step.quota] as Quota;
    const cost = Math.max(1, step.cost);
    const decision = limiter.charge(charge({ ...step, cost, quota }));
    const seen = { decision, atMs: now, cost, quota };
    check(seen, before);
    before.push(seen);
  }
}

/** Returns the units admitted in the same window, counted from the list of all requests. */
function usedIn(windowMs: number, { atMs }: Seen, before: Seen[]): number {
  const isSame = (other: Seen) => Math.floor(other.atMs / windowMs) === Math.floor(atMs / windowMs);
  return before
    .filter((other) => other.decision.admitted && isSame(other))
    .reduce((sum, other) => sum + other.cost, 0);
}

describe('for any requests, costs, clocks and plan changes', () => {
  const always = (check: (now: Seen, before: Seen[]) => void) =>
    fc.assert(
      fc.property(fc.array(STEP, { maxLength: 80 }), (steps) => play(steps, check)),
      { numRuns: 400 },
    );

  test('Limits-Windows-1: nothing above a quota is admitted, nothing that fits is refused except during a ban', () => {
    always((now, before) => {
      const { quota, cost, decision } = now;
      const fitsMinute = usedIn(MINUTE_MS, now, before) + cost <= quota.perMinute;
      const fitsDay = quota.perDay === null || usedIn(DAY_MS, now, before) + cost <= quota.perDay;
      if (decision.admitted) expect([fitsMinute, fitsDay]).toEqual([true, true]);
      else if (decision.code !== 'key_banned') expect(fitsMinute && fitsDay).toBe(false);
    });
  });

  test('Limits-Windows-2: limit, remaining and reset of both windows are true', () => {
    always((now, before) => {
      const { quota, decision, atMs } = now;
      const spent = decision.admitted ? now.cost : 0;
      const { minute, day } = decision;
      const left = (limit: number, windowMs: number) =>
        Math.max(0, limit - usedIn(windowMs, now, before) - spent);
      expect(minute).toMatchObject({
        limit: quota.perMinute,
        remaining: left(quota.perMinute, MINUTE_MS),
        resetAtSeconds: (Math.floor(atMs / MINUTE_MS) + 1) * 60,
      });
      if (quota.perDay === null) expect(day).toBeNull();
      else
        expect(day).toMatchObject({
          limit: quota.perDay,
          remaining: left(quota.perDay, DAY_MS),
          resetAtSeconds: (Math.floor(atMs / DAY_MS) + 1) * 86_400,
        });
    });
  });

  test('Limits-Windows-3: remaining is never negative and never rises within a window under one plan', () => {
    always((now, before) => {
      const last = before.at(-1);
      for (const window of ['minute', 'day'] as const) {
        const is = now.decision[window];
        const was = last?.decision[window];
        if (!is) continue;
        expect(is.remaining).toBeGreaterThanOrEqual(0);
        if (was && last?.quota === now.quota && was.resetAtSeconds === is.resetAtSeconds) {
          expect(is.remaining).toBeLessThanOrEqual(was.remaining);
        }
      }
    });
  });

  test('Limits-Windows-4: after Retry-After, a whole number of at least 1, the same request is admitted', () => {
    fc.assert(
      fc.property(
        fc.array(STEP, { maxLength: 60 }),
        fc.constantFrom('1', null),
        fc.nat(3),
        fc.integer({ min: 1, max: 5 }),
        (steps, keyId, index, cost) => {
          let now = NOON_MS;
          const limiter = new MemoryLimiter(() => now);
          const quota = QUOTAS[index] as Quota;
          for (const step of steps) {
            now += step.advanceMs;
            limiter.charge(charge({ ...step, cost: Math.max(1, step.cost), quota }));
          }
          const request = charge({ cost, quota, keyId });
          const decision = limiter.charge(request);
          if (decision.admitted || decision.neverFits) return;
          expect(Number.isInteger(decision.retryAfterSeconds)).toBe(true);
          expect(decision.retryAfterSeconds).toBeGreaterThanOrEqual(1);
          now += decision.retryAfterSeconds * 1000;
          expect(limiter.charge(request).admitted).toBe(true);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test('Limits-Windows-5: a clock set back by less than a minute gives no second quota', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -20_000, max: 25_000 }), { maxLength: 200 }), (jumps) => {
        let highest = NOON_MS;
        let now = NOON_MS;
        const limiter = new MemoryLimiter(() => now);
        const admitted = new Map<number, number>();
        for (const jump of jumps) {
          now = Math.max(now + jump, highest - 50_000);
          highest = Math.max(highest, now);
          const decision = limiter.charge(charge({ keyId: null, quota: { perMinute: 3, perDay: null } }));
          const { resetAtSeconds } = decision.minute;
          if (decision.admitted) admitted.set(resetAtSeconds, (admitted.get(resetAtSeconds) ?? 0) + 1);
        }
        expect(Math.max(0, ...admitted.values())).toBeLessThanOrEqual(3);
      }),
    );
  });
});

test('Limits-Windows-6: a refused request spends nothing, in no window', () => {
  const limiter = new MemoryLimiter(() => NOON_MS);
  for (let request = 0; request < 80; request += 1) limiter.charge(charge());
  expect(limiter.peek(charge())).toMatchObject({ minute: { remaining: 0 }, day: { remaining: 940 } });
});

test('Limits-Windows-7: with both windows spent the refusal names the day and its end', () => {
  const limiter = new MemoryLimiter(() => NOON_MS);
  const request = charge({ quota: { perMinute: 1, perDay: 1 } });
  limiter.charge(request);
  const decision = limiter.charge(request);
  expect(decision).toMatchObject({ code: 'rate_limited_day', retryAfterSeconds: DAY_MS / 2 / 1000 });
  expect(bindingWindow(decision)).toBe(decision.day);
});

test('Limits-Windows-8: the window shown is the violated one, otherwise the one with less remaining', () => {
  const window = (remaining: number, isViolated: boolean) => ({
    limit: 9,
    remaining,
    resetAtSeconds: 1,
    isViolated,
  });
  const shown = (minute: [number, boolean], day: [number, boolean] | null) => {
    const both = { minute: window(...minute), day: day && window(...day) };
    return bindingWindow(both) === both.minute ? 'minute' : 'day';
  };
  expect(shown([5, false], [9, false])).toBe('minute');
  expect(shown([9, false], [5, false])).toBe('day');
  expect(shown([5, false], [5, false])).toBe('day');
  expect(shown([3, true], [1, false])).toBe('minute');
  expect(shown([1, false], [3, true])).toBe('day');
  expect(shown([0, true], [0, true])).toBe('day');
  expect(shown([5, false], null)).toBe('minute');
});

test('Limits-Windows-9: a request larger than a whole window is marked as never fitting', () => {
  const limiter = new MemoryLimiter(() => NOON_MS + 1);
  const decision = limiter.charge(charge({ cost: 61 }));
  expect(decision).toMatchObject({ code: 'rate_limited_minute', neverFits: true, retryAfterSeconds: 60 });
  expect(limiter.charge(charge({ cost: 60 })).admitted).toBe(true);
});

test('Limits-Windows-10: a changed plan counts from the next request on, and a lowered plan shows 0 remaining', () => {
  const limiter = new MemoryLimiter(() => NOON_MS);
  for (let request = 0; request < 200; request += 1) limiter.charge(charge({ quota: PLANS.PRO }));
  expect(limiter.charge(charge({ quota: PLANS.FREE }))).toMatchObject({
    admitted: false,
    minute: { limit: 60, remaining: 0 },
    day: { remaining: 800 },
  });
  expect(limiter.charge(charge({ quota: PLANS.PRO }))).toMatchObject({
    admitted: true,
    minute: { remaining: 99 },
  });
});

test('Limits-Windows-11: keys of a project share its quota, and reading it costs nothing', () => {
  const limiter = new MemoryLimiter(() => NOON_MS);
  for (let key = 0; key < 60; key += 1) {
    expect(limiter.charge(charge({ keyId: String(key) })).admitted).toBe(true);
    limiter.peek(charge({ keyId: String(key) }));
  }
  expect(limiter.charge(charge({ keyId: 'another' })).admitted).toBe(false);
  expect(limiter.peek(charge({ subject: 'project:2' }))).toMatchObject({ minute: { remaining: 60 } });
  expect(limiter.subjectCount).toBe(1);
});

test('Limits-Windows-12: an IPv6 /64 is one address, and an IPv4 address is the same in every spelling', () => {
  expect(addressSubject('192.0.2.1')).toBe('address:192.0.2.1');
  expect(addressSubject('::ffff:192.0.2.1')).toBe('address:192.0.2.1');
  expect(addressSubject('2001:DB8:1:2:3:4:5:6')).toBe('address:2001:db8:1:2::/64');
  expect(addressSubject('2001:db8:1:2::9')).toBe('address:2001:db8:1:2::/64');
  expect(addressSubject('2001:db8::1')).toBe('address:2001:db8:0:0::/64');
  expect(addressSubject('fe80::1%eth0')).toBe('address:fe80:0:0:0::/64');
  expect(addressSubject('::1')).toBe('address:0:0:0:0::/64');
  expect(projectSubject(2n ** 63n - 1n).length).toBeLessThanOrEqual(64);
});

test('Limits-Windows-13: a clock set back over midnight opens no day again', () => {
  let now = NOON_MS + DAY_MS / 2 + 5_000;
  const limiter = new MemoryLimiter(() => now);
  const request = charge({ quota: { perMinute: 100, perDay: 3 } });
  for (let sent = 0; sent < 3; sent += 1) limiter.charge(request);
  for (const jumpMs of [-10_000, 10_000]) {
    now += jumpMs;
    expect(limiter.charge(request)).toMatchObject({ code: 'rate_limited_day', day: { remaining: 0 } });
  }
});

test('Limits-Windows-15: a day that was spent while the clock was a day ahead blocks nobody afterwards', () => {
  let now = NOON_MS + DAY_MS;
  const limiter = new MemoryLimiter(() => now);
  const request = charge({ quota: { perMinute: 100, perDay: 3 } });
  for (let sent = 0; sent < 4; sent += 1) limiter.charge(request);
  now -= DAY_MS;
  expect(limiter.charge(request)).toMatchObject({ admitted: true, day: { remaining: 2 } });
});

test.each([
  [0, '0 s'],
  [59, '59 s'],
  [60, '1 min'],
  [61, '1 min 1 s'],
  [3_600, '1 h'],
  [40_289, '11 h 11 min'],
  [86_400, '1 d'],
  [180_000, '2 d 2 h'],
])('Limits-40: a message says %i s as %s', (seconds, words) => {
  expect(durationInWords(seconds)).toBe(words);
});
