import { expect, test } from '@jest/globals';
import { VERSION_MS } from '../src/data-versions.js';
import { MemoryVersions } from '../src/rate-limit/memory-versions.js';
import { Flight, type KeptResponse, ResponseCache } from '../src/response-cache/response-cache.js';

const response = (body: string): KeptResponse => ({ body, headers: {} });

function begin(cache: ResponseCache, reader: string, text: string): Flight {
  const taken = cache.take(reader, text);
  if (!(taken instanceof Flight)) throw new Error('there was an answer already');
  return taken;
}

test('Cache-1: an answer is kept when it is asked for a second time, and only for the same reader', () => {
  const cache = new ResponseCache();
  begin(cache, 'v1', '/pets').land(response('first'));
  begin(cache, 'v1', '/pets').land(response('second'));
  expect(cache.take('v1', '/pets')).toEqual(response('second'));
  expect(cache.take('v2', '/pets')).toBeInstanceOf(Flight);
  expect(cache.counts).toEqual({ hits: 1, shared: 0, misses: 3 });
});

test('Cache-2: who asks while the same is being made shares its end, also when there is nothing to share', async () => {
  const cache = new ResponseCache();
  for (const end of [response('made'), null]) {
    const flight = begin(cache, 'v1', `/pets?${end?.body}`);
    const others = [1, 2, 3].map(() => cache.take('v1', `/pets?${end?.body}`));
    flight.land(end);
    flight.land(response('too late'));
    expect(await Promise.all(others)).toEqual([end, end, end]);
  }
  begin(cache, 'v1', '/pets?null').land(null);
  expect(cache.take('v1', '/pets?null')).toBeInstanceOf(Flight);
});

test('Cache-3: what is kept stays within its bytes, whatever is asked', () => {
  const cache = new ResponseCache(100_000);
  for (let index = 0; index < 1_000; index += 1) {
    for (let time = 0; time < 2; time += 1) begin(cache, 'v1', `/${index}`).land(response('x'.repeat(1_000)));
  }
  const isKept = (index: number) => !(cache.take('v1', `/${index}`) instanceof Flight);
  expect(isKept(999)).toBe(true);
  expect(isKept(0)).toBe(false);
});

test('Cache-4: there is no version while somebody writes, a new one after the last has ended, and another after its time', async () => {
  const clock = { now: 1_000 };
  const versions = new MemoryVersions(() => clock.now);
  const before = versions.current('project:7');
  expect(versions.current('project:7')).toBe(before);
  const ends: (() => void)[] = [];
  const writes = [1, 2].map(() => versions.change(7n, () => new Promise<void>((end) => ends.push(end))));
  expect(versions.current('project:7')).toBeNull();
  expect(versions.current('project:8')).not.toBeNull();
  ends[0]?.();
  await writes[0];
  expect(versions.current('project:7')).toBeNull();
  ends[1]?.();
  await writes[1];
  const after = versions.current('project:7');
  expect(after).not.toBe(before);
  clock.now += VERSION_MS;
  expect(versions.current('project:7')).not.toBe(after);
  clock.now -= 3_600_000;
  expect(versions.current('project:7')).not.toBe(after);
});

test('Cache-5: a write that fails renews the version, too: nobody knows what it did', async () => {
  const versions = new MemoryVersions(() => 1_000);
  const before = versions.current('project:7');
  await expect(versions.change(7n, () => Promise.reject(new Error('lost')))).rejects.toThrow('lost');
  expect(versions.current('project:7')).not.toBe(before);
});

test('Cache-6: a project that was forgotten for want of room never gets an old version again', async () => {
  const versions = new MemoryVersions(() => 1_000, 2);
  const seen = new Set<string | null>();
  for (let round = 0; round < 50; round += 1) {
    const before = seen.size;
    for (const project of ['project:1', 'project:2', 'project:3']) seen.add(versions.current(project));
    expect(seen.size).toBe(before + 3);
  }
  let end = () => {};
  const write = versions.change(1n, () => new Promise<void>((resolve) => (end = resolve)));
  for (const project of ['project:2', 'project:3', 'project:4']) versions.current(project);
  const meanwhile = versions.current('project:1');
  end();
  await write;
  expect(versions.current('project:1')).not.toBe(meanwhile);
});
