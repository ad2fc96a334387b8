import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { copyRepository, type RepositoryCopy } from '../support/own-noun/repository-copy.js';
import { freePort } from '../support/servers/daemon.js';

const GUIDE = 'docs/your-own-noun.md';
/** It builds twice and runs tests, beside other files that build. */
const PATIENCE_MS = 900_000;
const LISTS = {
  'src/nouns.ts': 'PET',
  'src/app/nouns.ts': 'pets',
  'test/support/nouns/tested-nouns.ts': 'PETS',
};
const TAKE_PETS_OUT = 'git rm -rq src/pets test/pets test/support/nouns/pet*.ts schema/released';

let copy: RepositoryCopy;
/** The output of each command of the guide, in their order. */
const ran: [command: string, output: string][] = [];
beforeAll(async () => {
  copy = await copyRepository();
});
afterAll(() => copy?.remove());

test(
  'NewNoun-1: the commands of the guide do what it says, from a copy of the repository to a noun without pets',
  async () => {
    const port = await freePort();
    let gateway: ReturnType<RepositoryCopy['start']> | undefined;
    let key = '';
    for (const command of commandsOf(await readFile(GUIDE, 'utf8'))) {
      if (command === TAKE_PETS_OUT) await takePetsFromLists();
      if (command === 'npm start') {
        await gateway?.end();
        gateway = copy.start(`PORT=${port} npm start`);
        key = await demoKey(gateway);
        ran.push([command, gateway.output()]);
      } else {
        ran.push([command, await run(`API_KEY=${key}; ${madeForTest(command, port)}`)]);
      }
    }
    const made = outputsOf(/^npm run new-noun/)[0] ?? '';
    expect(made).toContain('Made 16 files.');
    const [rest, graphql] = outputsOf(/^curl/).map((output) => JSON.parse(output));
    const id = expect.any(Number);
    expect(rest).toEqual([
      { id, name: 'First book', state: 'active' },
      { id, name: 'Second book', state: 'draft' },
      { id, name: 'Third book', state: 'archived' },
    ]);
    expect(graphql.data.books.nodes).toEqual([{ id: expect.any(String), name: 'First book' }]);
    expect(outputsOf(/^TEST_DATABASES/)[0]).toMatch(
      // `-t` skips the suites that are not about a noun.
      /Test Suites: (1 skipped, )?1\d passed, 1\d (of 1\d )?total/,
    );

    const get = (path: string) =>
      fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${key}` } });
    expect((await get('/v1/books')).status).toBe(200);
    expect((await get('/v1/pets')).status).toBe(404);
    expect(await (await get('/v1/docs/listBooks')).text()).toContain('List all books');
    expect(await (await get('/schema.graphql')).text()).not.toMatch(/\bpets?\b/i);
  },
  PATIENCE_MS,
);

test('NewNoun-2: every listing of the guide is code of the books, or of a list of nouns', async () => {
  const { output } = await copy.run(
    `cat $(git ls-files test/own-noun/books) ${Object.keys(LISTS).join(' ')}`,
  );
  const listings = blocksOf(await readFile(GUIDE, 'utf8'), 'ts');
  expect(listings.length).toBeGreaterThan(2);
  for (const listing of listings) expect(output).toContain(listing);
});

const blocksOf = (text: string, language: string) =>
  [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)]
    .filter(([, name]) => name === language)
    .map(([, , code = '']) => code);

/** Without the line that the reader fills in. */
function commandsOf(guide: string): string[] {
  const lines = blocksOf(guide, 'sh').flatMap((block) => block.replaceAll('\\\n', '').trim().split('\n'));
  return lines.filter((line) => !line.startsWith('API_KEY='));
}

/** The command on the port of this test. The suites run for books only: those of pets have their own run. */
function madeForTest(command: string, port: number): string {
  if (command.startsWith('TEST_DATABASES=')) return `${command} -t books`;
  return command.replaceAll('127.0.0.1:4000', `127.0.0.1:${port}`);
}

/** Runs a command in the copy. Throws with its output if it fails. */
async function run(command: string): Promise<string> {
  const { code, output } = await copy.run(command);
  if (code !== 0) throw new Error(`${command}\n${output}`);
  return output;
}

function outputsOf(command: RegExp): string[] {
  return ran.filter(([line]) => command.test(line)).map(([, output]) => output);
}

function demoKey(gateway: ReturnType<RepositoryCopy['start']>): Promise<string> {
  return eventually(
    'the demo key',
    () => {
      const [, found] = /Demo key, shown only once: (\S+)/.exec(gateway.output()) ?? [];
      if (!found) throw new Error(gateway.output());
      return Promise.resolve(found);
    },
    PATIENCE_MS,
  );
}

async function takePetsFromLists(): Promise<void> {
  for (const [file, name] of Object.entries(LISTS)) {
    const path = join(copy.folder, file);
    const text = await readFile(path, 'utf8');
    const without = text.replace(new RegExp(`import \\{ ${name} \\}.*\n`), '').replace(`[${name}, `, '[');
    await writeFile(path, without);
  }
}
