import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { Durability } from '../../src/ground/database/durability.js';

const full = () => Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
const fail = (error: Error) => () => Promise.reject(error);

let probes: number;
let answer: () => Promise<unknown>;
const probe = () => {
  probes += 1;
  return answer();
};
beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
  probes = 0;
  answer = async () => {};
});

afterEach(() => {
  jest.useRealTimers();
});

test('Durability-1: however often it is asked, one probe is written each second without a write', async () => {
  const durability = new Durability(probe, true);
  const askFor = async (seconds: number) => {
    const before = probes;
    for (let step = 0; step < seconds * 100; step += 1) {
      await Promise.all([durability.problem(), durability.problem()]);
      jest.advanceTimersByTime(10);
    }
    return probes - before;
  };
  expect(await askFor(1)).toBe(0);
  expect(await askFor(30)).toBe(30);
  await durability.watch(async () => {});
  expect(await askFor(1)).toBe(0);
  answer = fail(full());
  await expect(durability.watch(answer)).rejects.toThrow('full');
  expect(await askFor(10)).toBeGreaterThanOrEqual(9);
  expect(await askFor(10)).toBeLessThanOrEqual(10);
  expect(await durability.problem()).toBe('its disk is full');
});

test('Durability-2: after a failure no other write is tried on SQLite until a probe was stored', async () => {
  const durability = new Durability(probe, true);
  answer = fail(full());
  await expect(durability.watch(answer)).rejects.toThrow('full');
  const write = jest.fn(async () => 1);
  await expect(durability.watch(write)).rejects.toMatchObject({ fatal: true });
  expect(write).not.toHaveBeenCalled();
  answer = async () => {};
  jest.advanceTimersByTime(1_001);
  expect(await durability.watch(write)).toBe(1);
  expect(await durability.problem()).toBeNull();
});

test('Durability-3: on MySQL writes continue, and a stored one ends the problem; a held lock tells nothing', async () => {
  const durability = new Durability(probe, false);
  const readOnly = Object.assign(new Error('read-only'), { code: 'ER_OPTION_PREVENTS_STATEMENT' });
  const locked = Object.assign(new Error('locked'), { code: 'ER_LOCK_DEADLOCK' });
  answer = fail(locked);
  await expect(durability.watch(fail(locked))).rejects.toBe(locked);
  expect(await durability.problem()).toBeNull();
  await expect(durability.watch(fail(readOnly))).rejects.toBe(readOnly);
  expect(await durability.problem()).toBe('it is read-only');
  expect(await durability.watch(async () => 1)).toBe(1);
  expect(await durability.problem()).toBeNull();
});
