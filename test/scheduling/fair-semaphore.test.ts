import { expect, test } from '@jest/globals';
import { FairSemaphore } from '../../src/ground/scheduling/fair-semaphore.js';

const NEVER = new AbortController().signal;

/** Starts tasks that run until the test ends them; `begun` lists them in the order in which they started. */
function works(semaphore: FairSemaphore) {
  const begun: { key: string; end: () => void }[] = [];
  const start = (key: string, signal = NEVER) =>
    semaphore.run(key, signal, () => new Promise<void>((end) => begun.push({ key, end })));
  return { begun, start };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('Semaphore-1: at most 3 tasks run at once, and the next task is of the key with the fewest running', async () => {
  const { begun, start } = works(new FairSemaphore({ most: 3 }));
  for (let index = 0; index < 5; index += 1) void start('flood');
  void start('neighbour');
  await settled();
  expect(begun.map(({ key }) => key)).toEqual(['flood', 'flood', 'flood']);
  begun[0]?.end();
  await settled();
  expect(begun.at(-1)?.key).toBe('neighbour');
  expect(begun).toHaveLength(4);
});

test('Semaphore-2: a key has its own bound, and leaves room for other keys', async () => {
  const { begun, start } = works(new FairSemaphore({ most: 3, mostOfKey: 2 }));
  for (let index = 0; index < 5; index += 1) void start('flood');
  void start('neighbour');
  await settled();
  expect(begun.map(({ key }) => key)).toEqual(['flood', 'flood', 'neighbour']);
});

test('Semaphore-3: an aborted task does not wait, and a failed task gives its permit back', async () => {
  const semaphore = new FairSemaphore({ most: 1 });
  const { begun, start } = works(semaphore);
  void start('first');
  const ending = new AbortController();
  const waiting = start('second', ending.signal);
  ending.abort();
  expect(await waiting).toBeNull();
  expect(await semaphore.run('third', ending.signal, async () => 1)).toBeNull();
  begun[0]?.end();
  await settled();
  await expect(semaphore.run('first', NEVER, () => Promise.reject(new Error('undone')))).rejects.toThrow(
    'undone',
  );
  expect(await semaphore.run('second', NEVER, async () => 2)).toEqual({ result: 2 });
});

test('Semaphore-4: tasks of one key run in the order of their calls, also after a failure', async () => {
  const semaphore = new FairSemaphore({ most: 2 });
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const all = Promise.allSettled(
    [0, 1, 2, 3, 4].map((index) =>
      semaphore.run('only', NEVER, async () => {
        begun.push(index);
        await new Promise<void>((resolve) => ends.push(resolve));
        if (index === 0) throw new Error('undone');
      }),
    ),
  );
  for (let ended = 0; ended < 5; ended += 1) {
    await settled();
    expect(begun).toHaveLength(Math.min(ended + 2, 5));
    ends[ended]?.();
  }
  const outcomes = await all;
  expect(begun).toEqual([0, 1, 2, 3, 4]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', ...Array(4).fill('fulfilled')]);
});
