import { expect, test } from '@jest/globals';
import { FairTurns } from '../src/dns/fair-turns.js';

const NEVER = new AbortController().signal;

/** Works that run until they are ended, in the order in which they began. */
function works(turns: FairTurns) {
  const begun: { key: string; end: () => void }[] = [];
  const start = (key: string, signal = NEVER) =>
    turns.run(key, signal, () => new Promise<void>((end) => begun.push({ key, end })));
  return { begun, start };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('so many run at once, and the next turn is of whoever has the fewest', async () => {
  const { begun, start } = works(new FairTurns({ most: 3 }));
  for (let index = 0; index < 5; index += 1) void start('flood');
  void start('neighbour');
  await settled();
  expect(begun.map(({ key }) => key)).toEqual(['flood', 'flood', 'flood']);
  begun[0]?.end();
  await settled();
  expect(begun.at(-1)?.key).toBe('neighbour');
  expect(begun).toHaveLength(4);
});

test('a key has its own bound, and leaves room for others', async () => {
  const { begun, start } = works(new FairTurns({ most: 3, mostOfKey: 2 }));
  for (let index = 0; index < 5; index += 1) void start('flood');
  void start('neighbour');
  await settled();
  expect(begun.map(({ key }) => key)).toEqual(['flood', 'flood', 'neighbour']);
});

test('nobody waits beyond their end, and a turn that failed is free again', async () => {
  const turns = new FairTurns({ most: 1 });
  const { begun, start } = works(turns);
  void start('first');
  const ending = new AbortController();
  const waiting = start('second', ending.signal);
  ending.abort();
  expect(await waiting).toBeNull();
  expect(await turns.run('third', ending.signal, async () => 1)).toBeNull();
  begun[0]?.end();
  await settled();
  await expect(turns.run('first', NEVER, () => Promise.reject(new Error('undone')))).rejects.toThrow(
    'undone',
  );
  expect(await turns.run('second', NEVER, async () => 2)).toEqual({ result: 2 });
});
