import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { CallerCache, type KnownKey } from '../../src/tenants/api-keys/caller-cache.js';

const DIGEST = 'd'.repeat(64);

/** A cache whose look-ups end when the test ends them; each look-up returns a key with its own number. */
function rig() {
  const clock = { now: 1_000_000 };
  const lookUps: { end(failure?: Error): Promise<void>; key: KnownKey }[] = [];
  const lookUp = () =>
    new Promise<KnownKey | null>((resolve, reject) => {
      const key = { expiresAtMs: lookUps.length } as KnownKey;
      const end = async (failure?: Error) => {
        if (failure) reject(failure);
        else resolve(key);
        await turn();
      };
      lookUps.push({ end, key });
    });
  const cache = new CallerCache(lookUp, () => clock.now);
  const known = async () => {
    const answer = cache.callerOf(DIGEST);
    await lookUps[0]?.end();
    return answer;
  };
  return { cache, clock, lookUps, known };
}

test('Keys-6: a key in use is refreshed early: no request waits, and no cached key is older than 0.8 s', async () => {
  const { cache, clock, lookUps, known } = rig();
  const first = await known();
  clock.now += 399;
  expect(cache.callerOf(DIGEST)).toBe(first);
  expect(lookUps).toHaveLength(1);
  clock.now += 1;
  expect(cache.callerOf(DIGEST)).toBe(first);
  clock.now += 300;
  expect(cache.callerOf(DIGEST)).toBe(first);
  expect(lookUps).toHaveLength(2);
  await lookUps[1]?.end();
  expect(cache.callerOf(DIGEST)).toBe(lookUps[1]?.key);
  // The age of the refreshed key counts from the start of its look-up, 300 ms ago, not from its end.
  clock.now += 500;
  expect(cache.callerOf(DIGEST)).toBeInstanceOf(Promise);
});

test('Keys-7: all requests wait for a slow early refresh, and no second look-up starts', async () => {
  const { cache, clock, lookUps, known } = rig();
  await known();
  clock.now += 400;
  cache.callerOf(DIGEST);
  clock.now += 400;
  const late = [cache.callerOf(DIGEST), cache.callerOf(DIGEST)];
  expect(lookUps).toHaveLength(2);
  await lookUps[1]?.end();
  expect(await Promise.all(late)).toEqual([lookUps[1]?.key, lookUps[1]?.key]);
  clock.now += 399;
  expect(cache.callerOf(DIGEST)).toBe(lookUps[1]?.key);
  expect(lookUps).toHaveLength(3);
});

test('Keys-8: a failed look-up is retried: at once if a request waits, otherwise when the cached key is 0.8 s old', async () => {
  const { cache, clock, lookUps, known } = rig();
  const first = await known();
  clock.now += 400;
  cache.callerOf(DIGEST);
  await lookUps[1]?.end(new Error('the database is away'));
  clock.now += 399;
  expect(cache.callerOf(DIGEST)).toBe(first);
  expect(lookUps).toHaveLength(2);
  clock.now += 1;
  const late = cache.callerOf(DIGEST);
  expect(lookUps).toHaveLength(3);
  await Promise.all([expect(late).rejects.toThrow('away'), lookUps[2]?.end(new Error('still away'))]);
  const later = cache.callerOf(DIGEST);
  await lookUps[3]?.end();
  expect(await later).toBe(lookUps[3]?.key);
});

test('Keys-9: an unknown key is not refreshed early', async () => {
  const clock = { now: 0 };
  const asked: string[] = [];
  const lookUp = async (digest: string) => {
    asked.push(digest);
    return null;
  };
  const cache = new CallerCache(lookUp, () => clock.now);
  await cache.callerOf(DIGEST);
  clock.now += 799;
  expect(cache.callerOf(DIGEST)).toBeNull();
  expect(asked).toHaveLength(1);
});

test('Keys-10: at most 20,000 keys are cached, and the oldest is evicted first', async () => {
  const asked: string[] = [];
  const lookUp = async (digest: string) => {
    asked.push(digest);
    return { expiresAtMs: null } as KnownKey;
  };
  const cache = new CallerCache(lookUp, () => 0);
  for (let index = 0; index <= 20_000; index += 1) cache.callerOf(String(index));
  for (const index of ['1', '20000', '0', '1']) cache.callerOf(index);
  expect(asked.slice(20_001)).toEqual(['0', '1']);
});

test('Keys-11: the result of a look-up that was running when the cache was cleared is not cached', async () => {
  const { cache, clock, lookUps, known } = rig();
  await known();
  clock.now += 400;
  cache.callerOf(DIGEST);
  cache.clear();
  const next = cache.callerOf(DIGEST);
  await lookUps[1]?.end();
  await lookUps[2]?.end();
  expect(await next).toBe(lookUps[2]?.key);
  expect(cache.callerOf(DIGEST)).toBe(lookUps[2]?.key);
});

test('Keys-12: a clock that is set back by an hour does not extend a cached key by an hour', async () => {
  const { cache, clock, known } = rig();
  await known();
  clock.now -= 3_600_000;
  expect(cache.callerOf(DIGEST)).toBeInstanceOf(Promise);
});
