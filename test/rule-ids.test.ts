import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const PRINT_TIERS = "console.log(JSON.stringify((await import('./jest.config.js')).default.projects))";
/** The start of a test's name: the quotation mark, the rule id, a colon. */
const NAME = /['"`]((?:[a-z]\w*-)+\d+): /gi;
/** The test files of nouns call these. */
const SUITES = 'src/testing/suites';

test('House-11: a rule id names one test', async () => {
  const sites = (await Promise.all(['test', 'test-browser', SUITES].map(namesBelow))).flat();
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

test('House-14: each test file is in exactly one tier, and each tier is a command', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '--eval',
    PRINT_TIERS,
  ]);
  const tiers: { displayName: string; testMatch: string[]; testPathIgnorePatterns?: string[] }[] =
    JSON.parse(stdout);
  expect(tiers.map(({ displayName }) => displayName)).toEqual(['default', 'full', 'timed', 'alone', 'long']);
  const tiersOf = (name: string) =>
    tiers.filter(
      ({ testMatch, testPathIgnorePatterns: [left = '$^'] = [] }) =>
        testMatch.some((glob) => name.endsWith(glob.replace('<rootDir>/test/**/*', ''))) &&
        !new RegExp(left).test(name),
    );
  const names = await readdir('test', { recursive: true });
  const sources = await Promise.all(
    names.map((name) => (/\.[jt]s$/.test(name) ? readFile(join('test', name), 'utf8') : '')),
  );
  const withTests = names.filter((_, at) => /^\s*test(\.\w+)*\(/m.test(sources[at] ?? ''));
  expect(withTests.length).toBeGreaterThan(150);
  expect(withTests.filter((name) => tiersOf(name).length !== 1)).toEqual([]);
  const { scripts } = JSON.parse(await readFile('package.json', 'utf8'));
  expect([scripts.test, scripts['test:full'], scripts['test:long']]).toEqual([
    expect.stringContaining('--selectProjects default '),
    expect.stringContaining('--ignoreProjects long '),
    expect.stringContaining('--selectProjects long '),
  ]);
});

/** Returns the ids as written in the files, so that a test repeated by `each` counts once. Case does not matter. */
async function namesBelow(folder: string): Promise<{ id: string; file: string }[]> {
  const files = (await readdir(folder, { recursive: true })).filter((name) =>
    name.endsWith(folder === SUITES ? '.ts' : '.test.ts'),
  );
  const found = files.map(async (name) => {
    const file = join(folder, name);
    const names = (await readFile(file, 'utf8')).matchAll(NAME);
    return [...names].map(([, id = '']) => ({ id: id.toLowerCase(), file }));
  });
  return (await Promise.all(found)).flat();
}
