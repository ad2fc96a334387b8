import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { CallerCache, type KnownKey } from '../src/api-keys/caller-cache.js';

const DIGEST = 'd'.repeat(64);

/** A cache whose look-ups end when a test says so, each with the key of its number. */
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
    const answer = cache.find(DIGEST);
    await lookUps[0]?.end();
    return answer;
  };
  return { cache, clock, lookUps, known };
}

test('Keys-6: a key in use is looked up ahead of time: no request waits, and none is told what is older than 0.8 s', async () => {
  const { cache, clock, lookUps, known } = rig();
  const first = await known();
  clock.now += 399;
  expect(cache.find(DIGEST)).toBe(first);
  expect(lookUps).toHaveLength(1);
  clock.now += 1;
  expect(cache.find(DIGEST)).toBe(first);
  clock.now += 300;
  expect(cache.find(DIGEST)).toBe(first);
  expect(lookUps).toHaveLength(2);
  await lookUps[1]?.end();
  expect(cache.find(DIGEST)).toBe(lookUps[1]?.key);
  // The renewed answer is as old as its look-up's start, 300 ms ago, not as its end.
  clock.now += 500;
  expect(cache.find(DIGEST)).toBeInstanceOf(Promise);
});

test('Keys-6: a look-up ahead of time that is slow is waited for by all, and none is begun beside it', async () => {
  const { cache, clock, lookUps, known } = rig();
  await known();
  clock.now += 400;
  cache.find(DIGEST);
  clock.now += 400;
  const late = [cache.find(DIGEST), cache.find(DIGEST)];
  expect(lookUps).toHaveLength(2);
  await lookUps[1]?.end();
  expect(await Promise.all(late)).toEqual([lookUps[1]?.key, lookUps[1]?.key]);
  clock.now += 399;
  expect(cache.find(DIGEST)).toBe(lookUps[1]?.key);
  expect(lookUps).toHaveLength(3);
});

test('Keys-6: a look-up that fails is tried again: at once where somebody waits, else when the limit of 0.8 s is reached', async () => {
  const { cache, clock, lookUps, known } = rig();
  const first = await known();
  clock.now += 400;
  cache.find(DIGEST);
  await lookUps[1]?.end(new Error('the database is away'));
  clock.now += 399;
  expect(cache.find(DIGEST)).toBe(first);
  expect(lookUps).toHaveLength(2);
  clock.now += 1;
  const late = cache.find(DIGEST);
  expect(lookUps).toHaveLength(3);
  await Promise.all([expect(late).rejects.toThrow('away'), lookUps[2]?.end(new Error('still away'))]);
  const later = cache.find(DIGEST);
  await lookUps[3]?.end();
  expect(await later).toBe(lookUps[3]?.key);
});

test('Keys-6: what is no key is not looked up ahead of time', async () => {
  const clock = { now: 0 };
  const asked: string[] = [];
  const lookUp = async (digest: string) => {
    asked.push(digest);
    return null;
  };
  const cache = new CallerCache(lookUp, () => clock.now);
  await cache.find(DIGEST);
  clock.now += 799;
  expect(cache.find(DIGEST)).toBeNull();
  expect(asked).toHaveLength(1);
});

test('Keys-6: at most 20,000 keys are known, and the one kept longest goes first', async () => {
  const asked: string[] = [];
  const lookUp = async (digest: string) => {
    asked.push(digest);
    return { expiresAtMs: null } as KnownKey;
  };
  const cache = new CallerCache(lookUp, () => 0);
  for (let index = 0; index <= 20_000; index += 1) cache.find(String(index));
  for (const index of ['1', '20000', '0', '1']) cache.find(index);
  expect(asked.slice(20_001)).toEqual(['0', '1']);
});

test('Keys-6: what is looked up while everything is forgotten is not remembered', async () => {
  const { cache, clock, lookUps, known } = rig();
  await known();
  clock.now += 400;
  cache.find(DIGEST);
  cache.clear();
  const next = cache.find(DIGEST);
  await lookUps[1]?.end();
  await lookUps[2]?.end();
  expect(await next).toBe(lookUps[2]?.key);
  expect(cache.find(DIGEST)).toBe(lookUps[2]?.key);
});

test('Keys-6: a clock that is set back by an hour keeps no answer for an hour', async () => {
  const { cache, clock, known } = rig();
  await known();
  clock.now -= 3_600_000;
  expect(cache.find(DIGEST)).toBeInstanceOf(Promise);
});
