import { setImmediate as nextLoop } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { Turns } from '../src/graphql/turns.js';

const [BUSY, OTHER] = [1n, 2n];

test('Turns-1: a turn of the event loop goes to one request, and projects take turns', async () => {
  const turns = new Turns();
  const order: string[] = [];
  const ask = (projectId: bigint, name: string) => turns.next(projectId).then(() => order.push(name));
  const all = [ask(BUSY, 'a'), ask(BUSY, 'b'), ask(BUSY, 'c'), ask(OTHER, 'x'), ask(OTHER, 'y')];
  expect(order).toEqual([]);
  for (let given = 1; given <= all.length; given += 1) {
    await nextLoop();
    expect(order).toHaveLength(given);
  }
  expect(order).toEqual(['a', 'x', 'b', 'y', 'c']);
});

test('Turns-2: a request that comes when nobody waits has the next turn', async () => {
  const turns = new Turns();
  await turns.next(BUSY);
  let hasTurn = false;
  void turns.next(OTHER).then(() => {
    hasTurn = true;
  });
  await nextLoop();
  expect(hasTurn).toBe(true);
});
