import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { copyRepository, type RepositoryCopy } from '../support/repository/repository-copy.js';

const BUILT = /^Building (.*)\n {2}server… \d+\.\d s\n$/;
const OLD_NODE = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.9.0' } })`;

let copy: RepositoryCopy;
beforeAll(async () => {
  copy = await copyRepository();
});
afterAll(() => copy?.remove());

const build = (prefix = '') => copy.run(`${prefix} node build.js server`);

test('Start-10: a build says at once that it builds, one that has nothing to do is silent, and a failed one is repeated', async () => {
  const first = await build();
  expect(first).toMatchObject({ code: 0, output: expect.stringMatching(BUILT) });
  expect(BUILT.exec(first.output)?.[1]).toBe('(once)…');
  // The files that the check of generated clients installs and writes.
  await writeFile(join(copy.folder, 'schema/generators/written.ts'), 'export const written = 1;\n');
  expect(await build()).toEqual({ code: 0, output: '' });
  const binary = join(copy.folder, JSON.parse(await readFile('package.json', 'utf8')).bin.petstore);
  expect((await stat(binary)).mode & 0o111).toBe(0o111);

  const changed = join(copy.folder, 'src/changed.ts');
  await writeFile(changed, 'export const changed: string = 1;\n');
  for (const { code, output } of [await build(), await build()]) {
    expect({ code, output }).toMatchObject({ code: 2, output: expect.stringContaining('src/changed.ts') });
  }
  await writeFile(changed, 'export const changed = 1;\n');
  expect(BUILT.exec((await build()).output)?.[1]).toBe('what has changed…');
});

test('Start-11: a build without the packages, and one on an old Node, say what is missing in one line', async () => {
  const old = await build(`NODE_OPTIONS="--import=data:text/javascript,${encodeURIComponent(OLD_NODE)}"`);
  expect(old).toEqual({ code: 1, output: 'This needs Node 20.19 or later, and runs on Node 20.9.0.\n' });
  await rm(join(copy.folder, 'node_modules'));
  expect(await build()).toEqual({
    code: 1,
    output: 'The packages are not installed yet. Run: npm ci\n',
  });
});
