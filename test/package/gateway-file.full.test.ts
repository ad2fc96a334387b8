import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Output } from '../../src/cli/output.js';
import { runProgram } from '../../src/cli/program.js';
import { runsTypeScript } from '../../src/ground/own-files/typescript.js';
import { GATEWAY, linkedFolder, petstoreIn } from '../support/package/linked-folder.js';

let above: string;
beforeAll(async () => {
  // Its name needs quotes in a shell, and an escape in a URL.
  above = await mkdtemp(join(tmpdir(), 'petstore own-'));
});
afterAll(() => rm(above, { recursive: true }));

const TITLE = `export const TITLE = 'title';\nexport type Unused = string;\n`;

test('Package-5: a gateway in TypeScript runs on this Node, by itself or with the compiler of its folder', async () => {
  const of = (name: string, title = TITLE, hasCompiler = true) =>
    linkedFolder(
      join(above, name),
      { 'gateway.ts': GATEWAY.replace('.EXT', '.ts'), 'title.ts': title },
      hasCompiler,
    );
  const folder = await of('with');
  const [written, refused, syntax, missing] = await Promise.all([
    petstoreIn(folder, 'migrate', '--write', '--json'),
    petstoreIn(await of('without', TITLE, false), 'books', 'export', 'none'),
    petstoreIn(await of('syntax', `${TITLE}\nlet wrong: = 3;\n`), 'projects', 'list'),
    petstoreIn(
      await of('missing', 'export type Unused =\n  string;\n\nexport const TITLE = missing.title;\n'),
      'projects',
      'list',
    ),
  ]);
  expect(written).toMatchObject({ code: 0, json: { written: [{ table: 'books' }] } });
  const [file = ''] = await readdir(join(folder, 'migrations'));
  expect(file).toMatch(/-books\.ts$/);
  expect(refused.stderr).toMatch(
    runsTypeScript()
      ? /The table books has no migration/
      : /gateway\.ts is TypeScript, which Node \S+ does not run\. Use Node 22\.18 or later, or the compiler: npm install --save-dev typescript/,
  );
  expect(syntax.stderr).toMatch(/title\.ts\S*4\b/);
  expect(missing.stderr).toMatch(/missing is not defined \(.*title\.ts:4:\d+\)\.$/m);
  // The compiler of somebody can leave its output there.
  await writeFile(join(folder, 'migrations', file.replace(/ts$/, 'js')), 'an old output');
  expect(await petstoreIn(folder, 'projects', 'list', '--json')).toMatchObject({ code: 0 });
});

test('Package-7: a new folder may have any name, and keeps what its package.json states', async () => {
  const manifest = { name: '@acme/book-shop', scripts: { test: 'vitest', lint: 'biome ci' } };
  await writeFile(join(above, 'package.json'), JSON.stringify(manifest));
  const create = async (name: string) => {
    let printed = '';
    const sink = { write: (text: string) => (printed += text) };
    const output = new Output(false, { stdout: sink, stderr: sink });
    return [await runProgram(null, ['new', join(above, name)], output), printed];
  };
  expect(await create('.')).toEqual([0, expect.stringContaining('npm install && npm start')]);
  expect(await create('Книги')).toEqual([0, expect.stringContaining(`cd "${above}/Книги" && npm install`)]);
  expect(await create('package.json/deep')).toEqual([
    1,
    expect.stringMatching(/package\.json\/deep\/package\.json can't be written: /),
  ]);
  const read = async (name: string) => JSON.parse(await readFile(join(above, name), 'utf8'));
  expect(await read('package.json')).toMatchObject({
    ...manifest,
    scripts: { ...manifest.scripts, start: 'petstore start', dev: 'petstore dev' },
  });
  expect((await read('Книги/package.json')).name).toBe('gateway');
  const gateway = runsTypeScript() ? 'gateway.ts' : 'gateway.js';
  expect(await readFile(join(above, gateway), 'utf8')).toContain("name: 'Acme Book Shop'");
});
