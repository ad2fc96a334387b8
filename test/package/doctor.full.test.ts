import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Ended } from '../support/command-line.js';
import { GATEWAY, linkedFolder, petstoreIn } from '../support/package/linked-folder.js';

let above: string;
beforeAll(async () => {
  // Its name needs quotes in a shell, and an escape in a URL.
  above = await mkdtemp(join(tmpdir(), 'petstore own-'));
});
afterAll(() => rm(above, { recursive: true }));

const problemsOf = ({ json }: Ended) =>
  json.checks
    .filter(({ ok }: { ok: boolean }) => !ok)
    .map(({ name, found }: Record<string, string>) => [name, found]);

const JAVASCRIPT = GATEWAY.replace(', type Unused', '')
  .replace('.EXT', '.js')
  .replace('interface Options { max: number }', '')
  .replace(': Options', '');

test('Package-6: doctor reports a gateway, a migration and a definition that are wrong, and never ends early', async () => {
  const files = { 'gateway.js': JAVASCRIPT, 'title.js': `export const TITLE = 'title';\n` };
  const [none, broken] = await Promise.all([
    linkedFolder(join(above, 'none'), files),
    linkedFolder(join(above, 'broken'), { ...files, 'title.js': `\nexport const TITLE = missing;\n` }),
  ]);
  const [unwritten, unloaded, human, listed, version] = await Promise.all([
    petstoreIn(none, 'doctor', '--json'),
    petstoreIn(broken, 'doctor', '--json'),
    petstoreIn(broken, 'doctor'),
    petstoreIn(broken, 'projects', 'list', '--json'),
    petstoreIn(broken, '--version'),
  ]);
  expect([unwritten.code, unloaded.code, human.code, version.code]).toEqual([1, 1, 1, 0]);
  expect(problemsOf(unwritten)).toContainEqual(['definitions', 'The table books has no migration']);
  const fault = `The gateway ${broken}/gateway.js could not be loaded: missing is not defined (${broken}/title.js:2:22).`;
  expect(problemsOf(unloaded)).toEqual([['gateway', fault]]);
  expect(human.stdout).toContain(`PROBLEM  gateway: ${fault}`);
  expect([listed.code, listed.json.error.message]).toEqual([2, fault]);

  await petstoreIn(none, 'migrate', '--write');
  const [name = ''] = await readdir(join(none, 'migrations'));
  const file = join(none, 'migrations', name);
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replace("'title'", "'name'"));
  const differs = await petstoreIn(none, 'doctor', '--json');
  expect(problemsOf(differs)).toContainEqual([
    'definitions',
    'The definition of books and its migrations differ in title, name',
  ]);
  await writeFile(file, `${text}\nexport class (`);
  const [wrong, migrated] = await Promise.all([
    petstoreIn(none, 'doctor', '--json'),
    petstoreIn(none, 'migrate'),
  ]);
  expect(problemsOf(wrong)).toEqual([
    ['gateway', expect.stringMatching(/^The migration .*-books\.js could not be loaded: .*-books\.js:\d+\)/)],
  ]);
  expect(migrated.code).toBe(2);
});
