import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { chart } from '../../bench/chart.js';
import { withResults } from '../../bench/readme.js';
import type { RunResult } from '../../bench/report.js';

const read = (path: string) => readFile(path, 'utf8');
const results = async () => JSON.parse(await read('bench/results.json')) as RunResult;

test('Bench-4: the figures of README.md and the picture are those of bench/results.json', async () => {
  const result = await results();
  const readme = await read('README.md');
  expect(withResults(readme, result)).toBe(readme);
  expect(chart(result)).toBe(await read('bench/results.svg'));
});

test('Bench-5: every row with requests has the processor time of the floor, which is the least', async () => {
  const compared = (await results()).rows.filter(({ measured }) => measured.length > 0);
  expect(compared.length).toBeGreaterThan(5);
  for (const { measured } of compared) {
    const [least] = measured.toSorted((a, b) => Number(a.cpuMicros) - Number(b.cpuMicros));
    expect(least?.name).toBe('floor');
    expect(least?.cpuMicros).toBeGreaterThan(0);
  }
});
