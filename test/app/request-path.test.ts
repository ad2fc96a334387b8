import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';

const document = () => readFile('docs/request-path.md', 'utf8');

test('Path-1: every file that docs/request-path.md names is there', async () => {
  const named = [...(await document()).matchAll(/`((?:src|docs)\/[^`]+)`/g)].map(([, path = '']) => path);
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter((path) => !existsSync(path))).toEqual([]);
});

test('Path-2: docs/request-path.md names every hook of the doors for requests, in the order in which they run', async () => {
  const source = await readFile('src/app/hooks.ts', 'utf8');
  const text = await document();
  for (const part of ['addServerHooks', 'addRestHooks', 'addGraphQLHooks']) {
    const [, body = ''] =
      new RegExp(`function ${part}\\(.*?\\n}`, 's').exec(source)?.[0].split('void {') ?? [];
    const hooks = [...body.matchAll(/addHook\('(?:onRequest|onSend|onResponse)', (?!\()([\w.]+)/g)].map(
      ([, name = '']) => name,
    );
    const calls = [...body.matchAll(/^ {4}(\w+)\(request, reply\);/gm)].map(([, name = '']) => name);
    const places = [...hooks, ...calls].map((name) => ({ name, at: text.indexOf(`\`${name}\``) }));
    expect(places.length).toBeGreaterThan(0);
    expect(places.filter(({ at }) => at === -1)).toEqual([]);
    const ofPart = part === 'addGraphQLHooks' ? [] : places.map(({ at }) => at);
    expect(ofPart).toEqual([...ofPart].sort((a, b) => a - b));
  }
});

test('Path-3: each test that docs/limits.md names is there', async () => {
  const rows = (await readFile('docs/limits.md', 'utf8')).split('\n').filter((line) => line.startsWith('| '));
  const named = rows.flatMap((row) => {
    const [last = ''] = row.split(' | ').slice(-1);
    return [...last.matchAll(/`([^`]+)`/g)].map(([, name]) => `test/${name}.`);
  });
  expect(named.length).toBeGreaterThan(80);
  // The page leaves out the tier of a file.
  const files = (await readdir('test', { recursive: true })).map((name) => `test/${name}`);
  expect(named.filter((name) => !files.some((file) => file.startsWith(name)))).toEqual([]);
});
