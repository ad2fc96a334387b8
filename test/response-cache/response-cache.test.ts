import { expect, test } from '@jest/globals';
import type { Caller } from '../../src/ground/kernel/caller.js';
import { VERSION_MS } from '../../src/ground/kernel/data-versions.js';
import { connectRedis } from '../../src/ground/redis/redis-connection.js';
import { strongTag } from '../../src/request/http/content/entity-tag.js';
import { MemoryVersions } from '../../src/request/rate-limit/memory/memory-versions.js';
import { RedisLimiter } from '../../src/request/rate-limit/redis/redis-limiter.js';
import { type KeptResponse, ResponseCache } from '../../src/request/response-cache/response-cache.js';
import { charge } from '../support/limiter/charges.js';
import { startRedis } from '../support/servers/redis.js';

type Response = KeptResponse | null;

const response = (body: string): KeptResponse => ({ body, headers: {} });

/** An admitted request of one project and key, at a version of its data. */
function requestAt(dataVersion: string | null) {
  const caller: Caller = {
    keyId: 1n,
    projectId: 7n,
    quota: { perMinute: 60, perDay: null },
    scopes: new Set(['toys:read']),
    rehearses: false,
    changesSinceMs: null,
  };
  const minute = { limit: 60, remaining: 59, resetAtSeconds: 60, isViolated: false };
  const standing = { atMs: 0, minute, day: null, ban: null, allowance: null };
  return { caller, standing: { ...standing, admitted: true, dataVersion } as const };
}

/** The response, and whether it had to be produced: then it is `made`. */
async function respond(cache: ResponseCache, version: string, text: string, made: Response) {
  let isProduced = false;
  const answer = await cache.respond(requestAt(version), text, async () => {
    isProduced = true;
    return made;
  });
  return { answer, isProduced };
}

test('Cache-1: a response is cached when it is requested a second time, and only for the same reader', async () => {
  const cache = new ResponseCache();
  await respond(cache, 'v1', '/toys', response('first'));
  await respond(cache, 'v1', '/toys', response('second'));
  const third = await respond(cache, 'v1', '/toys', response('third'));
  expect(third).toEqual({ answer: response('second'), isProduced: false });
  expect((await respond(cache, 'v2', '/toys', response('other'))).isProduced).toBe(true);
  expect(cache.counts).toEqual({ hits: 1, shared: 0, misses: 3 });
});

test('Cache-2: simultaneous equal requests share one result, also when it is not cacheable', async () => {
  const cache = new ResponseCache();
  const ends: [string, Promise<Response>, Response][] = [
    ['made', Promise.resolve(response('made')), response('made')],
    ['nothing to share', Promise.resolve(null), null],
    ['failed', Promise.reject(new Error('lost')), null],
  ];
  for (const [text, producing, end] of ends) {
    const own = cache.respond(requestAt('v1'), text, () => producing);
    const others = [1, 2, 3].map(() => respond(cache, 'v1', text, response('too late')));
    await Promise.allSettled([own]);
    expect(await Promise.all(others)).toEqual(Array(3).fill({ answer: end, isProduced: false }));
  }
  await respond(cache, 'v1', 'nothing to share', null);
  expect((await respond(cache, 'v1', 'nothing to share', null)).isProduced).toBe(true);
  expect((await respond(cache, 'v1', 'failed', null)).isProduced).toBe(true);
});

test('Cache-7: during a write no response is shared or cached', async () => {
  const cache = new ResponseCache();
  let produced = 0;
  const produce = async () => {
    produced += 1;
    return response(String(produced));
  };
  const ask = () => cache.respond(requestAt(null), '/toys', produce);
  await Promise.all([ask(), ask(), ask()]);
  await ask();
  expect(produced).toBe(4);
});

test('Cache-3: the cache stays within its bytes for any requests', async () => {
  const cache = new ResponseCache(100_000);
  const large = response('x'.repeat(1_000));
  for (let index = 0; index < 1_000; index += 1) {
    for (let time = 0; time < 2; time += 1) await respond(cache, 'v1', `/${index}`, large);
  }
  expect((await respond(cache, 'v1', '/999', null)).isProduced).toBe(false);
  expect((await respond(cache, 'v1', '/0', null)).isProduced).toBe(true);
});

test('Cache-4: there is no version during a write, a new one after the last write, and another after VERSION_MS', async () => {
  const clock = { now: 1_000 };
  const versions = new MemoryVersions(() => clock.now);
  const before = versions.current('project:7', 'books');
  expect(versions.current('project:7', 'books')).toBe(before);
  const ends: (() => void)[] = [];
  const writes = [1, 2].map(() =>
    versions.of('books').change(7n, () => new Promise<void>((end) => ends.push(end))),
  );
  expect(versions.current('project:7', 'books')).toBeNull();
  expect(versions.current('project:8', 'books')).not.toBeNull();
  ends[0]?.();
  await writes[0];
  expect(versions.current('project:7', 'books')).toBeNull();
  ends[1]?.();
  await writes[1];
  const after = versions.current('project:7', 'books');
  expect(after).not.toBe(before);
  clock.now += VERSION_MS;
  expect(versions.current('project:7', 'books')).not.toBe(after);
  clock.now -= 3_600_000;
  expect(versions.current('project:7', 'books')).not.toBe(after);
});

test('Cache-5: a failed write renews the version too, because its effect is unknown', async () => {
  const versions = new MemoryVersions(() => 1_000);
  const before = versions.current('project:7', 'books');
  await expect(versions.of('books').change(7n, () => Promise.reject(new Error('lost')))).rejects.toThrow(
    'lost',
  );
  expect(versions.current('project:7', 'books')).not.toBe(before);
});

test('Cache-9: a write of a noun leaves the version of every other noun, in memory and in Redis', async () => {
  const versions = new MemoryVersions(() => 1_000);
  const before = versions.current('project:7', 'books');
  const magazines = versions.current('project:7', 'magazines');
  const write = versions.of('books').change(7n, async () => versions.current('project:7', 'magazines'));
  expect(await write).toBe(magazines);
  expect(versions.current('project:7', 'magazines')).toBe(magazines);
  expect(versions.current('project:7', 'books')).not.toBe(before);

  const redis = await startRedis();
  const shared = new RedisLimiter(await connectRedis(redis.url));
  try {
    const versionOf = async (dataOf: string | null) => {
      const decision = await shared.charge(charge({ subject: 'project:7', dataOf }));
      return decision.admitted ? decision.dataVersion : 'refused';
    };
    await shared.stamp('project:7', 'books', 'first');
    await shared.stamp('project:7', 'magazines', 'second');
    expect(await versionOf('books')).toMatch(/ first$/);
    expect(await versionOf('magazines')).toMatch(/ second$/);
    expect(await versionOf(null)).toBeNull();
  } finally {
    await shared.close();
    await redis.stop();
  }
});

test('Cache-6: a project that was evicted never gets an old version again', async () => {
  const versions = new MemoryVersions(() => 1_000, 2);
  const seen = new Set<string | null>();
  for (let round = 0; round < 50; round += 1) {
    const before = seen.size;
    for (const project of ['project:1', 'project:2', 'project:3'])
      seen.add(versions.current(project, 'books'));
    expect(seen.size).toBe(before + 3);
  }
  let end = () => {};
  const write = versions.of('books').change(1n, () => new Promise<void>((resolve) => (end = resolve)));
  for (const project of ['project:2', 'project:3', 'project:4']) versions.current(project, 'books');
  const meanwhile = versions.current('project:1', 'books');
  end();
  await write;
  expect(versions.current('project:1', 'books')).not.toBe(meanwhile);
});

test('Cache-8: two lists of parts have different tags, also when their texts are equal in sum', () => {
  expect(strongTag('ab', 'c')).not.toBe(strongTag('a', 'bc'));
  expect(strongTag('ab', 'c')).toBe(strongTag('ab', 'c'));
});
