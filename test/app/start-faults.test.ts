import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createGateway, loadGateway } from '../../src/app/gateway.js';
import { isReserved } from '../../src/app/reserved-names.js';
import { ConfigError, loadConfig } from '../../src/ground/config/config.js';
import { defineNoun } from '../../src/noun/define-noun.js';
import { text } from '../../src/noun/kinds/text.js';
import { startProblem } from '../../src/process/start-problem.js';
import { startGateway } from '../../src/testing/testing.js';
import { notes } from '../support/gateway/notes.js';
import { spawnGateway } from '../support/gateway-process.js';
import { freePort } from '../support/servers/daemon.js';
import { startApp } from '../support/start-app.js';

type Options = Parameters<typeof createGateway>[0];
const NOTES = { name: 'Acme', nouns: [{ description: notes.description, load: async () => notes }] };
const CALL = 'new URL("./migrations/", import.meta.url)';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'broken-'));
  await writeFile(join(folder, '1795000000000-broken.js'), 'export class Broken { up( }');
});
afterAll(() => rm(folder, { recursive: true }));

const migrations = () => pathToFileURL(`${folder}/`);

test('Start-12: a gateway whose migrations cannot be loaded ends its process with 2 and one line that names the file', async () => {
  const main = join(folder, 'main.mjs');
  const from = (file: string) => JSON.stringify(pathToFileURL(resolve('dist/src', file)).href);
  await writeFile(
    main,
    `import { createGateway, defineNoun, text } from ${from('index.js')};
import { runGateway } from ${from('process/run-gateway.js')};
const books = defineNoun({ name: 'book', fields: { title: text({ max: 9, example: 'Emma' }) } });
await runGateway(createGateway({ name: 'Acme', nouns: [books], migrations: ${CALL} }));`.replace(
      './migrations/',
      './',
    ),
  );
  const gateway = spawnGateway({ env: { DATABASE_URL: 'sqlite::memory:' }, main });
  expect((await gateway.ended).code).toBe(2);
  expect(gateway.output()).toMatch(
    /^The migration \S*1795000000000-broken\.js could not be loaded: [^\n]+\n$/,
  );
});

test('Start-13: so is a definition whose example, or whose record of the demo project, breaks its rule', async () => {
  const wrong = defineNoun({ name: 'book', fields: { title: text({ max: 3, example: 'Emma' }) } });
  const loading = loadGateway(createGateway({ name: 'Acme', nouns: [wrong] }));
  await expect(loading).rejects.toThrow(ConfigError);
  await expect(loading).rejects.toThrow(
    'The gateway Acme could not be loaded: The noun book: the example of',
  );
  const title = text({ max: 9, example: 'Emma' });
  const demo = defineNoun({ name: 'book', fields: { title }, demo: [{ title: 'Emma' }, { title: '' }] });
  await expect(loadGateway(createGateway({ name: 'Acme', nouns: [demo] }))).rejects.toThrow(
    'The noun book: in record 2 of demo, title must be text of 1 to 9 characters',
  );
  await expect(loadGateway(createGateway({ ...NOTES, migrations: migrations() }))).rejects.toThrow(
    ConfigError,
  );
});

const title = text({ max: 9, example: 'Emma' });
const copies = (plural: string) => defineNoun({ name: 'scan', plural, fields: { title } });
const books = (options: object) => defineNoun({ name: 'book', fields: { title }, changes: true, ...options });
const hooked = books({ afterCommit: () => {} });
/** Books with a further table. */
const withTable = (name: string): (typeof NOTES)['nouns'][number] => ({
  description: books({}).description,
  load: async () => {
    const noun = await books({}).load();
    return { ...noun, definitions: [...(noun.definitions ?? []), { name, columns: [] }] };
  },
});

test.each<[problem: string, nouns: Options['nouns']]>([
  [
    'the table committed_books is that of scan and of book with afterCommit',
    [hooked, copies('committedBooks')],
  ],
  [
    'the table committed_books is that of book with afterCommit and of scan',
    [copies('committedBooks'), hooked],
  ],
  [
    "the table has_books_tags is that of scan and of book with filter: 'has'",
    [withTable('has_books_tags'), copies('hasBooksTags')],
  ],
  ['the table change_logs is that of book with an option and of the platform', [withTable('change_logs')]],
])('Start-17: nouns of which a table has two owners are refused at the start: %s', async (problem, nouns) => {
  const loading = loadGateway(createGateway({ name: 'Acme', nouns }));
  await expect(loading).rejects.toThrow(ConfigError);
  await expect(loading).rejects.toThrow(`${problem}. Give one another plural.`);
});

test('Start-18: so are those of which one has the deleted records of the other in its name', () => {
  const nouns = [books({ softDelete: true }), copies('deletedBooks')];
  expect(() => createGateway({ name: 'Acme', nouns })).toThrow('deletedBooks is a name of the noun book too');
});

test('Start-19: every table of the platform is reserved', async () => {
  const app = await startApp();
  const rows: { name: string }[] = await app.db.execute(
    "SELECT name FROM sqlite_master WHERE type = 'table'",
    [],
  );
  await app.stop();
  const own = rows.map(({ name }) => name).filter((name) => !/^sqlite_/.test(name) && name !== 'toys');
  expect(own.length).toBeGreaterThan(15);
  expect(own.filter((name) => !isReserved(name))).toEqual([]);
});

test('Start-14: a fault of own parts is no fault of the database', () => {
  const problem = startProblem(new TypeError('own parts are wrong'), loadConfig({}));
  expect(problem).toMatch(/^The gateway could not start\. TypeError: own parts are wrong\n {4}at /);
  expect(problem).not.toContain('DATABASE_URL');
});

test('Start-15: a gateway for tests that cannot start leaves no port open', async () => {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  const metricsPort = await freePort();
  const env = { PORT: String(port), METRICS_PORT: String(metricsPort) };
  await expect(startGateway(createGateway(NOTES), env)).rejects.toThrow('EADDRINUSE');
  await expect(fetch(`http://127.0.0.1:${metricsPort}/metrics`)).rejects.toThrow();
  server.close();
  const started = await startGateway(createGateway(NOTES), { METRICS_PORT: String(metricsPort) });
  expect((await fetch(`${started.url}/readyz`)).status).toBe(200);
  await started.stop();
});

test.each<[string, object]>([
  ['A gateway needs a name', { nouns: NOTES.nouns }],
  ["The gateway Acme can't be made: there is no option accentColour", { ...NOTES, accentColour: '#7a1f5c' }],
  ["The gateway Acme can't be made: nouns must be a list", { ...NOTES, nouns: NOTES.nouns[0] }],
  ["The gateway Acme can't be made: nouns must be a list", { ...NOTES, nouns: [{}] }],
  ["The gateway Acme can't be made: migrations must be new URL", { ...NOTES, migrations: './migrations' }],
  [
    "The gateway Acme can't be made: migrations must be new URL",
    { ...NOTES, migrations: new URL('https://example.com/migrations/') },
  ],
])('Start-16: an author without TypeScript is told what is wrong: %s', (message, options) => {
  expect(() => createGateway(options as Options)).toThrow(message);
});
