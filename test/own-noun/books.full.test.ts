import { readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startBrowser } from '../support/browser.js';
import { databaseKinds } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { copyRepository, type RepositoryCopy } from '../support/own-noun/repository-copy.js';
import { freePort } from '../support/servers/daemon.js';

/** They build and run tests, beside other files that build. */
const PATIENCE_MS = 900_000;

let copy: RepositoryCopy;
beforeAll(async () => {
  copy = await copyRepository();
  await run('cp -r test/own-noun/books src/books && mkdir test/books');
  await run('cp test/own-noun/books-test/books.ts test/support/nouns/');
  await run('cp test/own-noun/books-test/books-test.ts test/books/books.test.ts');
});
afterAll(() => copy?.remove());

/** Runs a command in the copy. Throws with its output if it fails. */
async function run(command: string): Promise<string> {
  const { code, output } = await copy.run(command);
  if (code !== 0) throw new Error(`${command}\n${output}`);
  return output;
}

async function replaceIn(file: string, changes: readonly (readonly [find: string, replace: string])[]) {
  const path = join(copy.folder, file);
  const before = await readFile(path, 'utf8');
  for (const [find] of changes) expect([file, before.includes(find)]).toEqual([file, true]);
  await writeFile(
    path,
    changes.reduce((text, [find, replace]) => text.replaceAll(find, replace), before),
  );
}

/** The servers of this run serve the tests in the copy too. */
function suites(kinds: readonly string[], files: string): Promise<string> {
  const servers = ['mysql', 'mariadb'].map((kind) => {
    const url = process.env[`TEST_SERVER_${kind.toUpperCase()}`];
    return url ? `TEST_${kind.toUpperCase()}_URL=${url} ` : '';
  });
  return run(`${servers.join('')}TEST_DATABASES=${kinds} npx jest --ci --maxWorkers=2 ${files}`);
}

/** Starts the built gateway with a new database and its demo project. */
async function startDemo() {
  const port = await freePort();
  const gateway = copy.start(
    `DEMO=1 PORT=${port} DATABASE_URL=sqlite:demo-${port}.sqlite node dist/src/main.js`,
  );
  const url = `http://127.0.0.1:${port}`;
  const key = await eventually('the demo key', () => {
    const [, found] = /Demo key, shown only once: (\S+)/.exec(gateway.output()) ?? [];
    if (!found) throw new Error(gateway.output());
    return Promise.resolve(found);
  });
  const get = (path: string) => fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } });
  return { url, key, get, end: () => gateway.end() };
}

/** An owner adds a book in the dashboard. */
async function seesBooks(url: string, key: string): Promise<void> {
  const browser = await startBrowser();
  try {
    const page = await browser.newPage();
    await page.goto(`${url}/dashboard/books`);
    await page.getByLabel('API key').fill(key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('rowheader', { name: 'Middlemarch' }).waitFor();
    await page.getByRole('button', { name: 'Add book' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Title').fill('Persuasion');
    await form.getByLabel('Pages').fill('249');
    await form.getByLabel('Price in cents').fill('9007199254740993');
    await form.getByLabel('Published on').fill('1817-12-20');
    await form.getByRole('button', { name: 'Add book' }).click();
    const row = page.getByRole('row', { name: /Persuasion/ });
    await row.getByText('9007199254740993').waitFor();
    await row.getByText('1817-12-20').waitFor();
  } finally {
    await browser.close();
  }
}

test(
  'OwnNoun-1: two nouns are served side by side, each with its own scopes, data and pages',
  async () => {
    await replaceIn('src/nouns.ts', [
      ['import { PET }', "import { BOOK } from './books/book.description.js';\nimport { PET }"],
      ['= [PET]', '= [PET, BOOK]'],
    ]);
    await replaceIn('src/app/nouns.ts', [
      ['import { pets }', "import { books } from '../books/books.noun.js';\nimport { pets }"],
      ['= [pets]', '= [pets, books]'],
    ]);
    await replaceIn('test/support/nouns/tested-nouns.ts', [
      ['import { PETS }', "import { BOOKS } from './books.js';\nimport { PETS }"],
      ['= [PETS]', '= [PETS, BOOKS]'],
    ]);
    // The pages of this repository's build do: the next test builds those of books.
    await run(`npm run -s schema && cp -r ${resolve('dist/public')} dist/`);
    await run('node browser/generate-types.js && npx tsc -p test');
    const demo = await startDemo();
    for (const noun of ['pets', 'books']) {
      const list = await demo.get(`/v1/${noun}?limit=2`);
      expect([noun, list.status, ((await list.json()) as unknown[]).length]).toEqual([noun, 200, 2]);
    }
    expect(JSON.parse(await readFile(join(copy.folder, 'schema/openapi.json'), 'utf8'))).toMatchObject({
      paths: { '/pets': {}, '/books': {}, '/books/{bookId}': {} },
    });
    await demo.end();
    await suites(['sqlite'], 'test/nouns/lists test/nouns/tenancy test/nouns/etags test/boundaries');
  },
  PATIENCE_MS,
);

test(
  'OwnNoun-2: books in place of pets keep every promise of a noun, and little else changes',
  async () => {
    await rm(join(copy.folder, 'src/pets'), { recursive: true });
    await run('git checkout -q src/nouns.ts src/app/nouns.ts test/support/nouns/tested-nouns.ts');
    await replaceIn('src/nouns.ts', [
      ['./pets/pet.description.js', './books/book.description.js'],
      ['PET', 'BOOK'],
    ]);
    await replaceIn('src/app/nouns.ts', [
      ['pets/pets.noun', 'books/books.noun'],
      ['{ pets }', '{ books }'],
      ['[pets]', '[books]'],
    ]);
    await replaceIn('test/support/nouns/tested-nouns.ts', [
      ['./pets.js', './books.js'],
      ['PETS', 'BOOKS'],
    ]);
    await run('npm run -s schema && npm run -s build');

    const changed = await run(
      'git add -A && git diff --cached --numstat -- src browser ":!src/pets" ":!src/books"',
    );
    const files = changed.trim().split('\n');
    const lines = files.map((line) => Number(line.split('\t')[0])).reduce((sum, added) => sum + added, 0);
    expect(files.length).toBeLessThanOrEqual(12);
    expect(lines).toBeLessThanOrEqual(300);

    const demo = await startDemo();
    const list = await demo.get('/v1/books?state=published&limit=1');
    expect([list.status, await list.json()]).toEqual([
      200,
      [expect.objectContaining({ title: 'Emma', pages: 474 })],
    ]);
    expect((await demo.get('/v1/pets')).status).toBe(404);
    expect(await (await demo.get('/v1/docs/listBooks')).text()).toContain('List all books');
    expect(await (await demo.get('/')).text()).toContain('in front of a book shop');
    await seesBooks(demo.url, demo.key);
    await demo.end();

    const own = 'test/nouns test/books test/web/item-documents test/boundaries';
    expect(await suites(databaseKinds(), own)).toMatch(/Test Suites: \d+ passed, \d+ total/);
  },
  PATIENCE_MS,
);
