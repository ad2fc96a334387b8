import { getEventListeners } from 'node:events';
import { setImmediate as oneTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { withTimeLimit } from '../../src/ground/kernel/deadline.js';

const warnings: string[] = [];
const note = ({ message }: Error) => void warnings.push(message);
beforeEach(() => {
  warnings.length = 0;
  process.on('warning', note);
});
afterEach(() => void process.off('warning', note));

test('Deadline-1: dozens of works follow the signal of a shutdown, without a warning of a leak, and leave no listener', async () => {
  const shutdown = new AbortController();
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const works = Array.from({ length: 40 }, () => withTimeLimit(60_000, shutdown.signal, () => released));
  await oneTurn();
  expect(getEventListeners(shutdown.signal, 'abort')).toHaveLength(40);
  release();
  await Promise.all(works);
  await oneTurn();
  expect(warnings).toEqual([]);
  expect(getEventListeners(shutdown.signal, 'abort')).toEqual([]);
});
