import { beforeEach, expect, test } from '@jest/globals';
import { KeptBodies } from '../../src/request/http/content/kept-bodies.js';

const PAGE = 'a line of a page\n'.repeat(600);

let made = 0;
const make = () => {
  made += 1;
  return PAGE;
};
beforeEach(() => {
  made = 0;
});

test('Pages-10: stored bodies never exceed their byte limit, whatever the number of hosts', async () => {
  const kept = new KeptBodies(100_000);
  for (let host = 0; host < 300; host += 1) await kept.of(`host ${host}`, 'text/html', make);
  expect(kept.bytes).toBeLessThanOrEqual(100_000);
  expect(kept.bytes).toBeGreaterThan(80_000);
  made = 0;
  await kept.of('host 299', 'text/html', make);
  await kept.of('host 0', 'text/html', make);
  expect(made).toBe(1);
});

test('Pages-11: simultaneous requests render a body once, and a failed rendering is retried', async () => {
  const kept = new KeptBodies();
  const bodies = await Promise.all(Array.from({ length: 50 }, () => kept.of('page', 'text/html', make)));
  expect([made, new Set(bodies).size]).toEqual([1, 1]);
  const broken = () => {
    throw new Error('broken');
  };
  expect(() => kept.of('other', 'text/html', broken)).toThrow('broken');
  expect(await kept.of('other', 'text/html', () => PAGE)).toMatchObject({ type: 'text/html' });
});
