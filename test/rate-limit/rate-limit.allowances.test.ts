import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MemoryLimiter } from '../../src/request/rate-limit/memory/memory-limiter.js';
import { type Refused, shownWindow } from '../../src/request/rate-limit/rules/limiter.js';
import { charge, hammer, MINUTE_MS, NOON_MS } from '../support/limiter/charges.js';

const ONE = { name: 'management:1', perMinute: 3, perDay: null, cost: 1 };
const FREE = { perMinute: 60, perDay: 1_000 };
const NONE = { perMinute: 0, perDay: 0 };

function limited() {
  const clock = { now: NOON_MS };
  const limiter = new MemoryLimiter(() => clock.now);
  const left = (allowance = ONE) =>
    limiter.charge(charge({ cost: 0, allowance: { ...allowance, cost: 0 } })).allowance?.remaining;
  const planLeft = () => limiter.peek(charge()).minute.remaining;
  return { clock, limiter, left, planLeft };
}

test('Limits-Allowances-1: a charge without plan units spends the allowance alone, and the headers show the plan', () => {
  const { limiter, left, planLeft } = limited();
  const decision = limiter.charge(charge({ cost: 0, allowance: ONE }));
  expect(decision).toMatchObject({ admitted: true, minute: { limit: 60, remaining: 60 } });
  expect(shownWindow(decision)).toBe(decision.minute);
  expect([left(), planLeft()]).toEqual([2, 60]);
});

test('Limits-Allowances-2: neither a spent quota nor a ban refuses a charge without plan units', async () => {
  const { limiter, clock } = limited();
  expect(limiter.charge(charge({ cost: 0, quota: NONE, allowance: ONE })).admitted).toBe(true);
  await hammer(limiter, clock, charge({ quota: NONE }));
  expect(limiter.charge(charge({ cost: 0, allowance: ONE })).admitted).toBe(true);
  expect(limiter.charge(charge({ allowance: ONE }))).toMatchObject({
    code: 'key_banned',
    isOfAllowance: false,
  });
});

test('Limits-Allowances-3: a refusal by the quota or the allowance spends nothing of either', () => {
  const { limiter, left, planLeft } = limited();
  const costly = { ...ONE, cost: 3 };
  expect(limiter.charge(charge({ cost: 61, allowance: ONE }))).toMatchObject({ isOfAllowance: false });
  expect([left(), planLeft()]).toEqual([3, 60]);
  expect(limiter.charge(charge({ cost: 2, allowance: costly })).admitted).toBe(true);
  expect(limiter.charge(charge({ cost: 2, allowance: ONE }))).toMatchObject({
    admitted: false,
    isOfAllowance: true,
    code: 'rate_limited_minute',
    allowance: { name: ONE.name, limit: 3, remaining: 0, isViolated: true },
    minute: { remaining: 58, isViolated: false },
  });
  expect([left(), planLeft()]).toEqual([0, 58]);
});

test('Limits-Allowances-4: a refusal by the allowance is never followed by a strike', () => {
  const { limiter, clock } = limited();
  for (let sent = 0; sent < 50; sent += 1) {
    clock.now += 100;
    limiter.charge(charge({ cost: sent % 2, allowance: { ...ONE, perMinute: 0 } }));
  }
  expect(limiter.peek(charge()).ban).toEqual({ strikes: 0, untilSeconds: null, nextStepMinutes: 1 });
});

test('Limits-Allowances-5: each allowance has its own minute, and names do not share it', () => {
  const { limiter, clock, left } = limited();
  for (let sent = 0; sent < 3; sent += 1) limiter.charge(charge({ cost: 0, allowance: ONE }));
  expect(limiter.charge(charge({ cost: 0, allowance: ONE }))).toMatchObject({ retryAfterSeconds: 60 });
  expect(left({ ...ONE, name: 'management:2' })).toBe(3);
  clock.now += MINUTE_MS;
  expect(limiter.charge(charge({ cost: 0, allowance: ONE })).admitted).toBe(true);
});

test('Limits-Allowances-6: after Retry-After the same request is admitted, whatever refused it', () => {
  const step = fc.record({
    jump: fc.nat(20_000),
    cost: fc.integer({ min: 0, max: 4 }),
    own: fc.integer({ min: 0, max: 3 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { limiter, clock } = limited();
      const quota = { perMinute: 6, perDay: 40 };
      for (const { jump, cost, own } of steps) {
        clock.now += jump;
        const allowance = own > 0 ? { ...ONE, cost: own } : undefined;
        const request = charge({ quota, cost: Math.max(cost, own > 0 ? 0 : 1), allowance });
        const decision = limiter.charge(request);
        if (decision.admitted) continue;
        clock.now = decision.atMs + decision.retryAfterSeconds * 1000;
        expect(limiter.charge(request).admitted).toBe(true);
      }
    }),
  );
});

test('Limits-Bans-1: during a ban X-RateLimit-Reset and Retry-After name the same moment, and nothing remains', async () => {
  const { limiter, clock } = limited();
  await hammer(limiter, clock, charge({ quota: NONE }));
  // Whole seconds, as those that it compares.
  clock.now = Math.ceil(clock.now / 1000) * 1000;
  const banned = (quota = FREE, cost = 1) => limiter.charge(charge({ quota, cost })) as Refused;
  const retryAtSeconds = ({ atMs, retryAfterSeconds }: Refused) => Math.ceil(atMs / 1000) + retryAfterSeconds;
  for (const [quota, cost] of [
    [FREE, 1],
    [NONE, 1],
    [{ perMinute: 60, perDay: 0 }, 1],
    [FREE, 61],
  ] as const) {
    const refused = banned(quota, cost);
    const shown = shownWindow(refused);
    expect([shown.remaining, shown.resetAtSeconds]).toEqual([0, retryAtSeconds(refused)]);
  }
  expect(shownWindow(limiter.peek(charge({ quota: FREE })))).toMatchObject({
    remaining: 0,
    resetAtSeconds: clock.now / 1000 + 60,
  });
  clock.now = shownWindow(banned()).resetAtSeconds * 1000;
  expect(limiter.charge(charge({ quota: FREE })).admitted).toBe(true);
});
