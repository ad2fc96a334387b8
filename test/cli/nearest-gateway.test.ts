import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { petstore } from '../support/command-line.js';

const CREATE = resolve('dist/src/app/gateway.js');
const NOTE = `{ singular: 'note', plural: 'notes', type: 'Note', withArticle: 'a note', fields: [], filters: [] }`;
const gateway = (name: string) => `import { createGateway } from '${CREATE}';
const description = ${NOTE};
export default createGateway({ name: '${name}', nouns: [{ description, load: () => Promise.reject(new Error('not needed')) }] });
`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'petstore-gateways-'));
});
afterAll(() => rm(folder, { recursive: true }));

let folders = 0;

/** Runs `petstore` in a folder inside a new one with these files. */
async function runBelow(files: Record<string, string>, ...args: string[]) {
  folders += 1;
  const above = join(folder, String(folders));
  await mkdir(join(above, 'deep/down'), { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(above, name), text);
  return petstore(args, { cwd: join(above, 'deep/down') });
}

test('Gateway-9: petstore finds the gateway by the nearest package.json above it', async () => {
  const manifest = (petstoreKey: object) => JSON.stringify({ type: 'module', petstore: petstoreKey });
  const runs = await Promise.all([
    runBelow({ 'package.json': manifest({ gateway: 'mine.js' }), 'mine.js': gateway('Named') }, '--help'),
    runBelow({ 'package.json': '{"type":"module"}', 'gateway.js': gateway('Beside') }, 'notes', '--help'),
  ]);
  expect(runs.map(({ code }) => code)).toEqual([0, 0]);
  expect(runs[0]?.stdout).toContain('Manage Named:');
  expect(runs[0]?.stdout).toMatch(/^ {2}notes +Notes of a project/m);
  expect(runs[1]?.stdout).toContain('Notes of a project.');
});

test('Gateway-10: without a gateway one sentence says what to do, and types still runs', async () => {
  const none = { 'package.json': '{"name":"elsewhere"}' };
  const [list, json, help, types] = await Promise.all([
    runBelow(none, 'projects', 'list'),
    runBelow(none, 'projects', 'create', 'shop', '--plan', 'pro', '--json'),
    runBelow(none, '--help'),
    runBelow(none, 'types', 'nothing.json'),
  ]);
  const sentence = /^There is no gateway here: name its file in package.json as .* beside package\.json\.$/;
  expect([list.code, list.stderr.trim()]).toEqual([2, expect.stringMatching(sentence)]);
  expect([json.code, json.json.error.code]).toEqual([2, 'invalid_configuration']);
  expect(json.json.error.message).toMatch(sentence);
  expect([help.code, help.stdout.includes('There is no gateway here')]).toEqual([0, true]);
  expect([types.code, types.stderr]).toEqual([1, expect.stringContaining("nothing.json can't be read")]);
});

test('Gateway-11: a file that is no gateway, or cannot be loaded, is refused in one line that names it', async () => {
  const of = (text: string) => ({ 'package.json': '{"type":"module"}', 'gateway.js': text });
  const [other, broken, refused, missing] = await Promise.all([
    runBelow(of('export default 42;\n'), 'projects', 'list'),
    runBelow(of('export default (;\n'), 'projects', 'list', '--json'),
    runBelow(of(gateway('')), 'projects', 'list'),
    runBelow({ 'package.json': '{"petstore":{"gateway":"gone.js"}}' }, 'projects', 'list'),
  ]);
  for (const { code } of [other, broken, refused, missing]) expect(code).toBe(2);
  expect(other.stderr).toMatch(/gateway\.js has no gateway\. .*export default createGateway/);
  expect(broken.json.error.message).toMatch(/gateway\.js could not be loaded: Unexpected token/);
  expect(refused.stderr).toContain('A gateway needs a name, such as "Acme Books".');
  expect(missing.stderr).toMatch(/gone\.js could not be loaded: /);
  for (const { stderr } of [other, refused, missing]) expect(stderr.trim().split('\n')).toHaveLength(1);
});
