import { expect, test } from '@jest/globals';
import { DOCUMENTS_PER_MINUTE, RefusedKeys } from '../../src/request/admission/refused-keys.js';
import { MINUTE_MS, NOON_MS } from '../support/limiter/charges.js';

function refusedKeys() {
  const clock = { now: NOON_MS };
  return { clock, keys: new RefusedKeys(() => clock.now) };
}

test('RefusedKeys-1: a key is refused until its Retry-After, by the plan or by an allowance', () => {
  const { clock, keys } = refusedKeys();
  keys.note(1n, 'plan', 10);
  keys.note(1n, 'allowance', 20);
  expect([keys.isRefused(1n), keys.isRefusedByPlan(1n), keys.isRefused(2n)]).toEqual([true, true, false]);
  clock.now += 10_000;
  expect([keys.isRefused(1n), keys.isRefusedByPlan(1n)]).toEqual([true, false]);
  clock.now += 10_000;
  expect(keys.isRefused(1n)).toBe(false);
  keys.note(1n, 'plan', 10);
  keys.forgetPlan(1n);
  expect(keys.isRefused(1n)).toBe(false);
});

test('RefusedKeys-2: its documents are counted by the UTC minute, and a later refusal keeps the count', () => {
  const { clock, keys } = refusedKeys();
  clock.now += 15_000;
  keys.note(1n, 'plan', 3_600);
  for (let read = 0; read < DOCUMENTS_PER_MINUTE; read += 1) expect(keys.countDocument(1n)).toBe(0);
  keys.note(1n, 'plan', 3_600);
  expect(keys.countDocument(1n)).toBe(45);
  clock.now += MINUTE_MS - 15_000;
  expect(keys.countDocument(1n)).toBe(0);
});

test('RefusedKeys-3: 20,000 keys are stored; one more evicts the first', () => {
  const { keys } = refusedKeys();
  for (let key = 0n; key <= 20_000n; key += 1n) keys.note(key, 'plan', 60);
  expect([keys.isRefused(0n), keys.isRefused(1n), keys.isRefused(20_000n)]).toEqual([false, true, true]);
});
