import { expect, test } from '@jest/globals';
import { banName, MemoryLimiter } from '../../src/request/rate-limit/memory/memory-limiter.js';
import { charge, HOUR_MS, hammer, MINUTE_MS, NOON_MS } from '../support/limiter/charges.js';

test('Limits-Memory-6: forgotten strikes and steps free their memory', async () => {
  const clock = { now: NOON_MS };
  const limiter = new MemoryLimiter(() => clock.now);
  const changed = limiter.trackChanges();
  const quota = { perMinute: 0, perDay: null };
  for (let key = 0; key < 1_000; key += 1) {
    await hammer(limiter, clock, charge({ quota, keyId: `${key}` }));
  }
  clock.now += 2 * HOUR_MS;
  for (let request = 0; request < 2_000; request += 1) limiter.charge(charge({ keyId: null }));
  const bans = Array.from({ length: 1_000 }, (_, key) => banName(`${key}`));
  expect(bans.filter((name) => !changed.has(name) || limiter.valueNamed(name) !== null)).toEqual([]);
});

const address = (index: number) => charge({ subject: `address:10.${index >> 16}.${index}`, keyId: null });
const project = (index: number) => charge({ subject: `project:${index}` });

function fill(limiter: MemoryLimiter, make: typeof project, count: number): void {
  for (let index = 0; index < count; index += 1) limiter.charge(make(index));
}

test('Limits-Memory-7: refused requests of unknown senders take no memory', () => {
  const limiter = new MemoryLimiter(() => NOON_MS);
  const quota = { perMinute: 0, perDay: null };
  for (let index = 0; index < 100; index += 1) limiter.charge({ ...address(index), quota });
  expect(limiter.subjectCount).toBe(0);
});

test('Limits-Memory-8: a full memory evicts expired subjects first, then addresses, projects last', () => {
  let now = NOON_MS;
  const limiter = new MemoryLimiter(() => now, 100);
  fill(limiter, address, 50);
  fill(limiter, project, 20);
  now += MINUTE_MS;
  for (let index = 50; index < 80; index += 1) limiter.charge(address(index));
  expect(limiter.subjectCount).toBe(50);
  expect(limiter.peek(project(0)).day?.remaining).toBe(999);

  fill(limiter, address, 10_000);
  expect(limiter.subjectCount).toBe(100);
  for (let index = 0; index < 20; index += 1) {
    expect(limiter.peek(project(index)).day?.remaining).toBe(999);
  }
  fill(limiter, project, 10_000);
  expect(limiter.subjectCount).toBe(100);
});
