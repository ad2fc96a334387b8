import { expect, test } from '@jest/globals';
import { choresOf, startChores } from '../../src/app/chores.js';
import { eventually } from '../support/eventually.js';

test('Chores-1: every failure of background work is counted; the log has the first one and the recovery', async () => {
  const failures: string[] = [];
  const lines: string[] = [];
  let isBroken = true;
  const work = async () => {
    if (isBroken) throw new Error('no disk');
  };
  const write = (_: object, message: string) => lines.push(message);
  const { stopChores } = startChores(
    [{ name: 'storing usage', everyMs: 5, work }],
    { info: write, warn: write },
    (name) => failures.push(name),
  );
  await eventually('three failures', async () => failures.length >= 3);
  isBroken = false;
  await eventually('a recovery', async () => lines.length > 1);
  await stopChores();
  expect(new Set(failures)).toEqual(new Set(['storing usage']));
  expect(lines).toEqual(['storing usage failed', 'storing usage works again']);
});

test('Chores-2: the old rows of every capability are deleted each minute, and none at the end', async () => {
  const done: string[] = [];
  const deleting = (name: string) => ({ deleteOldRows: async () => done.push(name) });
  const storing = { name: 'storing', everyMs: 5, work: async () => done.push('stored') };
  const [sweeping, ...others] = choresOf([deleting('one'), { chores: [storing] }, deleting('two')]);
  expect([sweeping?.name, sweeping?.everyMs, others]).toEqual(['sweeping', 60_000, [storing]]);
  await sweeping?.work(false);
  await sweeping?.work(true);
  expect(done).toEqual(['one', 'two']);
});
