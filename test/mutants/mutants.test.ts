import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { mutated, testFileOf, testSources } from './mutant.js';
import { MUTANTS } from './mutants.js';

const all = Object.values(MUTANTS).flat();

test('House-13: each mutant fits its source, and names tests that exist', async () => {
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
  const sources = await testSources('.');
  const problems: string[] = [];
  for (const mutant of all) {
    try {
      mutated(await readFile(join('src', mutant.file), 'utf8'), mutant);
      for (const test of mutant.tests) testFileOf(test, sources);
    } catch (error) {
      problems.push(`${mutant.id}: ${(error as Error).message}`);
    }
  }
  expect(problems).toEqual([]);
});
