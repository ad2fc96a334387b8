import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openApiDocument } from '../../src/doors/rest/document/openapi.js';
import { defineNoun } from '../../src/noun/define-noun.js';
import { int64 } from '../../src/noun/kinds/int64.js';
import { text } from '../../src/noun/kinds/text.js';
import { ownNames } from '../../src/request/http/headers.js';
import { startBrowser } from '../support/browser.js';
import { toysDocument } from '../support/client/toys-client.js';
import { makeUserProject } from '../support/client/user-project.js';
import { petstoreHere } from '../support/command-line.js';
import { startApp } from '../support/start-app.js';

const run = promisify(execFile);
const MOST_BYTES = 5 * 1024;

/** A second noun, defined as an author of one does. */
const books = defineNoun({
  name: 'book',
  fields: { title: text({ example: 'Middlemarch' }), priceCents: int64({ optional: true, example: 799n }) },
});

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'petstore-types-'));
  await makeUserProject(folder);
  await writeFile(join(folder, 'toys.json'), JSON.stringify(toysDocument()));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const petstore = (...args: string[]) =>
  petstoreHere(args, { env: { DATABASE_URL: 'mysql://nobody@127.0.0.1:1/none' } });

/** The compiler's messages about the user's files; empty = there are none. */
async function compiled(files: readonly string[], options: object = {}): Promise<string> {
  const compilerOptions = {
    ...{
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: false,
    },
    ...{ module: 'NodeNext', target: 'ES2022', outDir: 'out', types: ['node'], ...options },
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  return run(resolve('node_modules/.bin/tsc'), ['-p', folder]).then(
    ({ stdout }) => stdout,
    ({ stdout }) => stdout,
  );
}

const USE_OF_TOYS = `
import { ApiError, createClient, Gone, WaitTooLong } from 'petstore-gateway/client';
import { description, type Toy } from './petstore.js';
const api = createClient(description, { apiKey: 'key', waitAtMostSeconds: 5 });
export async function use(signal: AbortSignal): Promise<void> {
  const made: Toy = await api.toys.create({ name: 'Rex', categoryId: 9223372036854775807n }, { idempotencyKey: 'a', signal });
  const { id }: { id: bigint } = await api.getToy(made.id);
  const all = api.toys.all({ status: 'available' });
  for await (const { categoryId } of all) console.log(categoryId + id);
  const changes = api.toys.changes({ after: all.changesCursor }, { everySeconds: 60, signal });
  for await (const { kind, toy } of changes) console.log(kind, toy.status ?? 'none', changes.cursor);
  const limit: number = (await api.getRateLimit()).minute.limit;
  try {
    await api.toys.list({ limit });
  } catch (error) {
    if (error instanceof WaitTooLong) console.log(error.until.getTime());
    else if (error instanceof Gone || error instanceof ApiError) console.log(error.code, error.errors[0]?.field);
  }
}
`;

test('Types-1: the types of toys compile under strict, with the types of Node and with those of browsers', async () => {
  const out = join(folder, 'petstore.ts');
  const { code, stdout, json } = await petstore('types', join(folder, 'toys.json'), '-o', out, '--json');
  expect([code, stdout, json.files]).toEqual([0, expect.any(String), [out]]);
  await writeFile(join(folder, 'toys.ts'), USE_OF_TOYS);
  expect(await compiled(['toys.ts'])).toBe('');
  expect(
    await compiled(['toys.ts'], {
      types: [],
      lib: ['ES2022', 'DOM'],
      moduleResolution: 'bundler',
      module: 'ESNext',
    }),
  ).toBe('');
  const wrong = [
    ["api.toys.create({ name: 'Rex', categoryId: 3 })", "Type 'number' is not assignable to type 'bigint'"],
    ["api.toys.list({ status: 'lost' })", '\'"lost"\' is not assignable'],
    ['api.toys.remove(1n)', "Property 'remove' does not exist"],
    ['api.toys.get(4711)', "'number' is not assignable to parameter of type 'bigint'"],
  ] as const;
  const text = `import { createClient } from 'petstore-gateway/client';\nimport { description } from './petstore.js';\nconst api = createClient(description, { apiKey: '' });\n`;
  await writeFile(join(folder, 'wrong.ts'), `${text}${wrong.map(([line]) => `${line};`).join('\n')}\n`);
  const problems = await compiled(['wrong.ts']);
  for (const [, problem] of wrong) expect(problems).toContain(problem);
  expect(problems.match(/error TS/g)).toHaveLength(wrong.length);
});

test('Types-2: another resource has its types too, and a program in JavaScript gets a .js and a .d.ts', async () => {
  const rest = await (await books.loadDoors()).rest(ownNames('bookstore'));
  const servers = [{ url: 'https://books.example.com/v1' }];
  const gateway = { name: 'Bookstore', slug: 'bookstore', nouns: [books.description] } as const;
  const text = JSON.stringify(openApiDocument(gateway, servers, [{ ...rest, examples: {}, refusals: {} }]));
  await writeFile(join(folder, 'books.json'), text);
  const out = join(folder, 'bookstore.js');
  expect(await petstore('types', join(folder, 'books.json'), '-o', out)).toMatchObject({ code: 0 });
  await writeFile(
    join(folder, 'books.ts'),
    `
import { createClient } from 'petstore-gateway/client';
import { type Book, description } from './bookstore.js';
const api = createClient(description, { apiKey: '' });
export const made: Promise<Book> = api.books.create({ title: 'Middlemarch', priceCents: 9223372036854775807n });
export const cents: Promise<bigint | undefined> = api.getBook(1n).then(({ priceCents }) => priceCents);
export const all: AsyncIterable<Book> = api.books.all();
`,
  );
  expect(await compiled(['books.ts'])).toBe('');
  const [, json = ''] = /^export const description = (.*);$/ms.exec(await readFile(out, 'utf8')) ?? [];
  expect(JSON.parse(json)).toMatchObject({
    baseUrl: 'https://books.example.com/v1',
    shapes: { Book: { id: 'int64', priceCents: 'int64' }, NewBook: { priceCents: 'int64' }, Books: ['Book'] },
    operations: {
      createBook: { method: 'POST', path: '/books', as: 'books.create', body: 'NewBook', answer: 'Book' },
    },
  });
});

/** The bundle that Vite makes of a module of the user; `b.js` in the folder of this name. */
async function bundled(name: string, source: string): Promise<string> {
  await writeFile(join(folder, `${name}.js`), source);
  const output = { entryFileNames: 'b.js' };
  const rolldownOptions = { input: `${name}.js`, preserveEntrySignatures: 'strict', output };
  const build = { outDir: name, minify: true, modulePreload: { polyfill: false }, rolldownOptions };
  await writeFile(join(folder, 'vite.config.js'), `export default ${JSON.stringify({ build })};`);
  await run(resolve('node_modules/.bin/vite'), ['build', '--logLevel', 'error'], { cwd: folder });
  expect(await readdir(join(folder, name))).toEqual(['b.js']);
  return readFile(join(folder, name, 'b.js'), 'utf8');
}

test(`Client-16: a bundle for browsers has at most ${MOST_BYTES} bytes compressed, and imports nothing`, async () => {
  const code = await bundled('all', "export * from 'petstore-gateway/client';");
  expect(code).not.toMatch(/\bimport\b|node:|\brequire\(|\bBuffer\b|\bprocess\b/);
  expect(gzipSync(code).length).toBeLessThanOrEqual(MOST_BYTES);
});

const PAGE = `
import { createClient } from 'petstore-gateway/client';
import { description } from './in-page.mjs';
window.run = async (baseUrl, apiKey) => {
  const api = createClient(description, { baseUrl, apiKey });
  const { id, categoryId } = await api.toys.create({ name: 'Rex', categoryId: 9223372036854775807n });
  const ids = [];
  for await (const toy of api.toys.all()) ids.push(toy.id);
  const error = await api.toys.list({ limit: 500 }).catch((each) => each);
  return [String(categoryId), ids.length === 1 && ids[0] === id, error.name, error.code, error.requestId.length];
};
`;

test('Client-20: the client works on a page of another origin, in a real browser', async () => {
  await petstore('types', join(folder, 'toys.json'), '-o', join(folder, 'in-page.mjs'));
  const code = await bundled('page', PAGE);
  const site = createServer(({ url }, response) => {
    const isScript = url === '/b.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? code : '<script type="module" src="/b.js"></script>');
  });
  site.listen(0, '127.0.0.1');
  await once(site, 'listening');
  const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  const app = await startApp({ env: { CORS_ORIGINS: origin } });
  const browser = await startBrowser();
  try {
    const page = await browser.newPage();
    await page.goto(origin);
    await page.waitForFunction('window.run');
    const { token } = await app.tenant();
    const result = await page.evaluate(`window.run('${app.url}/v1', '${token}')`);
    expect(result).toEqual(['9223372036854775807', true, 'ApiError', 'invalid_request', 36]);
  } finally {
    await browser.close();
    site.close();
    await app.stop();
  }
});
