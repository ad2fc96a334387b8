import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

/** The start of a test's name: the quotation mark, the rule id, a colon. */
const NAME = /['"`]((?:[a-z]\w*-)+\d+): /gi;

test('House-11: a rule id names one test', async () => {
  const sites = (await Promise.all(['test', 'test-browser'].map(namesBelow))).flat();
  expect(sites.length).toBeGreaterThan(500);
  const filesOf = new Map<string, string[]>();
  for (const { id, file } of sites) filesOf.set(id, [...(filesOf.get(id) ?? []), file]);
  expect([...filesOf].filter(([, files]) => files.length > 1)).toEqual([]);
});

test('House-12: only the setup of the files about time makes a failed test run once more', async () => {
  const files = (await readdir('test', { recursive: true })).filter((name) => /\.[jt]s$/.test(name));
  const texts = await Promise.all(files.map((name) => readFile(join('test', name), 'utf8')));
  const retrying = files.filter((_, at) => /\bretryTimes\(\d/.test(texts[at] ?? ''));
  expect(retrying).toEqual(['support/jest/retry-once.ts']);
});

/** Returns the ids as written in the files, so that a test repeated by `each` counts once. Case does not matter. */
async function namesBelow(folder: string): Promise<{ id: string; file: string }[]> {
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.test.ts'));
  const found = files.map(async (name) => {
    const file = join(folder, name);
    const names = (await readFile(file, 'utf8')).matchAll(NAME);
    return [...names].map(([, id = '']) => ({ id: id.toLowerCase(), file }));
  });
  return (await Promise.all(found)).flat();
}
