import { setImmediate as nextLoop } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { EventLoopTurns } from '../../src/ground/scheduling/event-loop-turns.js';

const [BUSY, OTHER] = [1n, 2n];

test('Turns-4: each iteration of the event loop serves one request, and projects alternate', async () => {
  const turns = new EventLoopTurns();
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

test('Turns-5: a request that arrives when no other waits is served in the next iteration', async () => {
  const turns = new EventLoopTurns();
  await turns.next(BUSY);
  let hasTurn = false;
  void turns.next(OTHER).then(() => {
    hasTurn = true;
  });
  await nextLoop();
  expect(hasTurn).toBe(true);
});
