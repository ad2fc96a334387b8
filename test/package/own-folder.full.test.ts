import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startBrowser } from '../support/browser.js';
import { createTestDatabase, sharedDatabase } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { OwnFolder, type Packed, pack, withVersion } from '../support/package/own-folder.js';

const MOST_BYTES = 4 * 1024 * 1024;
const MOST_FILES = 5;
const MOST_SECONDS = 60;

let folder: string;
let packed: Packed;
let newer: Packed;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'petstore-packed-'));
  packed = await pack(folder);
  newer = await withVersion(packed, '99.0.0', folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('Package-1: the packed file has what runs, with its types, and neither sources nor tests', () => {
  expect(packed.sizeBytes).toBeLessThan(MOST_BYTES);
  expect(packed.paths).toEqual(
    expect.arrayContaining([
      'dist/src/index.js',
      'dist/src/index.d.ts',
      'dist/client/client.js',
      'docs/settings.md',
    ]),
  );
  expect(
    packed.paths.filter((path) =>
      /\.map$|^dist.*(?<!\.d)\.ts$|^(src|test)\/|^dist\/(test|bench)|built-from/.test(path),
    ),
  ).toEqual([]);
});

test('Package-10: npm publish is refused outside a release', async () => {
  const publish = promisify(execFile)('npm', ['publish', '--dry-run'], {
    env: { ...process.env, RELEASE: '' },
  });
  await expect(publish).rejects.toThrow('Follow the steps of a release in CONTRIBUTING.md.');
});

interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers have many shapes; a wrong access fails the test.
  body: any;
}

async function ask(url: string, apiKey: string | null, body?: object): Promise<Answer> {
  const response = await fetch(url, {
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
  });
  const text = await response.text();
  return {
    status: response.status,
    body: /json/.test(response.headers.get('content-type') ?? '') && JSON.parse(text),
  };
}

let own: OwnFolder;
beforeAll(async () => {
  own = await OwnFolder.create();
});
afterAll(() => own.remove());

const sourceFile = async () => [...(await own.files()).keys()].find((name) => /^gateway\.[jt]s$/.test(name));

test(`Package-2: an empty folder serves its own noun in both APIs within ${MOST_SECONDS} s, and upgrades in place`, async () => {
  const startedAtMs = performance.now();
  await own.install(packed);
  await own.petstore('new', '.');
  const running = await own.start();
  const { url, apiKey } = running;
  const listed = await ask(`${url}/v1/books`, apiKey);
  const query = '{ books(state: active) { nodes { title priceCents } } bookCount }';
  const queried = await ask(`${url}/graphql`, apiKey, { query });
  const seconds = (performance.now() - startedAtMs) / 1000;
  console.info(`${seconds.toFixed(1)} s from an empty folder to the first answers`);
  expect([listed.status, listed.body.length]).toEqual([200, 2]);
  expect(queried.body).toEqual({
    data: { books: { nodes: [{ title: 'Moby Dick', priceCents: '1299' }] }, bookCount: 2 },
  });
  expect((await ask(`${url}/dashboard`, null)).status).toBe(200);
  const files = await own.files();
  expect(files.size).toBeLessThanOrEqual(MOST_FILES);

  const created = await ask(`${url}/v1/books`, apiKey, {
    title: 'Ulysses',
    priceCents: 1,
    isbn: '9780000000001',
  });
  expect(created.status).toBe(201);
  await own.write(
    'more.csv',
    'title,isbn,priceCents,state,publishedOn\nEmma,,9007199254740993,active,1815-12-23\n',
  );
  expect(await own.petstore('books', 'import', 'demo', 'more.csv')).toContain('1');
  await own.petstore('books', 'export', 'demo', 'all.csv');
  const exported = await own.read('all.csv');
  expect(exported).toMatch(/Emma.*9007199254740993/);
  expect(await running.stop()).toBe(0);

  await own.install(newer);
  expect((await own.petstore('--version')).trim()).toBe('99.0.0');
  const after = await own.start();
  expect((await ask(`${after.url}/v1/books`, apiKey)).body).toHaveLength(4);
  await own.petstore('books', 'export', 'demo', 'again.csv');
  expect(await own.read('again.csv')).toBe(exported);
  expect(await after.stop()).toBe(0);
  const unchanged = [...(await own.files())].filter(([name]) => files.has(name) && name !== 'package.json');
  expect(new Map(unchanged)).toEqual(new Map([...files].filter(([name]) => name !== 'package.json')));
});

test('Package-3: a field more is one line, and the migration that a command writes', async () => {
  const source = (await sourceFile()) ?? '';
  const text = await own.read(source);
  const field = '    pages: integer({ min: 1, default: 100 }),\n';
  const edited = text
    .replace('  },\n  count', `${field}  },\n  count`)
    .replace('import { choice, ', 'import { integer, choice, ');
  await own.write(source, edited);
  const refused =
    'The definition of books and its migrations differ in pages. Run `petstore migrate --write`';
  await expect(own.start()).rejects.toThrow(refused);
  await expect(own.petstore('books', 'export', 'demo', 'none.csv')).rejects.toThrow(refused);
  const written = JSON.parse(await own.petstore('migrate', '--write', '--json'));
  expect(written).toMatchObject({ written: [{ table: 'books', losses: [] }] });
  expect(await own.petstore('migrate')).toMatch(/^Applied BooksPages\d{13}\./);
  await own.petstore('books', 'export', 'demo', 'pages.csv');
  const [head, ...rows] = (await own.read('pages.csv')).trim().split('\n');
  expect(head).toContain('pages');
  expect(rows).toHaveLength(4);
  for (const row of rows) expect(row).toMatch(/,100$/);

  await own.write(source, text);
  await expect(own.petstore('migrate', '--write')).rejects.toThrow(
    'pages of books is no longer defined: its values are deleted.',
  );
  await own.petstore('migrate', '--write', '--allow-loss');
  const running = await own.start();
  expect(await running.stop()).toBe(0);
});

test('Package-9: the same folder runs on MySQL: both APIs, files by the command line, and its dashboard in a browser', async () => {
  const database = await createTestDatabase(sharedDatabase());
  const onMysql = own.with({ DATABASE_URL: database.url });
  const running = await onMysql.start();
  const { url } = running;
  const browser = await startBrowser();
  try {
    await onMysql.petstore('projects', 'create', 'shop');
    const { key: apiKey } = JSON.parse(await onMysql.petstore('keys', 'create', 'shop', '--json'));
    await own.write('rows.csv', `title,priceCents,state\nEmma ☃,9007199254740993,active\nrex,1,draft\n`);
    await onMysql.petstore('books', 'import', 'shop', 'rows.csv');
    await onMysql.petstore('books', 'export', 'shop', 'rows-again.csv');
    expect(await own.read('rows-again.csv')).toMatch(/Emma ☃.*9007199254740993/);
    expect((await ask(`${url}/v1/books?state=active`, apiKey)).body).toHaveLength(1);
    const query = '{ books(titleStartsWith: "Emma") { nodes { title priceCents } } bookCount }';
    expect((await ask(`${url}/graphql`, apiKey, { query })).body).toEqual({
      data: { books: { nodes: [{ title: 'Emma ☃', priceCents: '9007199254740993' }] }, bookCount: 2 },
    });
    expect(JSON.parse(await onMysql.petstore('migrate', '--plan', '--json'))).toEqual({ pending: [] });

    const page = await browser.newPage();
    const faults: string[] = [];
    page.on('pageerror', ({ message }) => faults.push(message));
    await page.goto(`${url}/dashboard`);
    await page.getByLabel('API key').fill(apiKey ?? '');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('link', { name: 'Books', exact: true }).click();
    await page.getByText('Emma ☃').waitFor();
    expect(await page.title()).toMatch(/^Books/);
    expect(faults).toEqual([]);
  } finally {
    await browser.close();
    await running.stop();
    await database.remove();
  }
});

test('Package-4: the test of a new folder passes, and dev starts the gateway again after each change', async () => {
  const other = await OwnFolder.create();
  await other.install(packed);
  await other.petstore('new', '.');
  await other.run('npm', 'test');
  await expect(other.petstore('new', '.')).rejects.toThrow('exists already. Nothing was written.');

  const running = await other.start('dev');
  const [source = '', text = ''] =
    [...(await other.files())].find(([name]) => /^gateway\.[jt]s$/.test(name)) ?? [];
  const greetings = (title: string) => running.output().split(`${title} listens on`).length - 1;
  await other.write(source, text.replace("name: 'Acme Books'", "name: 'Acme Films'"));
  const changedAtMs = performance.now();
  await eventually('the new name', () => greetings('Acme Films') === 1);
  console.info(
    `dev: ${((performance.now() - changedAtMs) / 1000).toFixed(1)} s from a change to the greeting`,
  );
  await other.write(source, 'export default createGateway(');
  await eventually('the fault of the source', () => /could not be loaded/.test(running.output()));
  await other.write(source, text);
  await eventually('the first name again', () => greetings('Acme Books') === 2);
  expect(await running.stop()).toBe(0);
  await other.remove();
});
