import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createGateway, type Gateway } from '../../src/app/gateway.js';
import { Output } from '../../src/cli/output.js';
import { runProgram } from '../../src/cli/program.js';
import { NewTable } from '../../src/ground/migrations/table-changes.js';
import { defineNoun } from '../../src/noun/define-noun.js';
import { text } from '../../src/noun/kinds/text.js';
import { type RunningGateway, startGateway } from '../../src/testing/testing.js';
import { createTestDatabase, databaseKinds, type TestDatabase } from '../support/databases.js';
import { SEATS } from '../support/nouns/seats.js';

const articles = defineNoun({
  name: 'article',
  fields: { sku: text({ unique: true, label: 'SKU' }), code: text({ unique: true, optional: true }) },
  get: false,
});

class Articles1790000000000 extends NewTable {
  table = articles.table.table;
}

const GATEWAY = createGateway({
  name: 'Two Uniques',
  nouns: [articles],
  migrations: [Articles1790000000000],
});

const ROWS = [
  'sku,code',
  'A,1',
  'A,1',
  'B,1',
  // Its code is that of a refused row.
  'C,2',
  'A,2',
  'D,',
  'E,',
];

const SEAT_ROWS = [
  'hall,startsAt,number',
  '8,2026-12-24T18:00:00.000Z,A1',
  '8,2026-12-24T19:00:00.000Z,A1',
  '8,2026-12-24T19:00:00+01:00,A1',
  '8,2026-12-24T19:00:00+01:00,a1',
  '8,,A1',
  '8,,A1',
  '9,2026-12-24T18:00:00.000Z,A1',
];

describe.each(databaseKinds())('on %s', (kind) => {
  let database: TestDatabase;
  let folder: string;
  beforeEach(async () => {
    database = await createTestDatabase(kind);
    folder = await mkdtemp(join(tmpdir(), 'petstore-test-'));
  });
  afterEach(async () => {
    await database.remove();
    await rm(folder, { recursive: true });
  });

  test('Import-61: a row that repeats two unique values is refused with both, and its other values stay free', async () => {
    const path = join(folder, 'articles.csv');
    await writeFile(path, `${ROWS.join('\n')}\n`);
    await run(GATEWAY, database.url, 'projects', 'create', 'shop');
    const { code, printed } = await run(GATEWAY, database.url, 'articles', 'import', 'shop', path);
    expect([code, printed]).toEqual([1, expect.stringMatching(/4.*3/s)]);
    const refused = await readFile(`${path.replace('.csv', '')}.refused.csv`, 'utf8');
    expect(refused.match(/line .*(?=,)/g)).toEqual([
      'line 3: sku is the SKU of another record; code is the code of another record',
      'line 4: code is the code of another record',
      'line 6: sku is the SKU of another record; code is the code of another record',
    ]);
  });

  test('Import-67: a row whose values together are taken is refused, also if a time is written in another way', async () => {
    await run(SEATS, database.url, 'projects', 'create', 'shop');
    const refusedOf = async (name: string, rows: string[]) => {
      const path = join(folder, `${name}.csv`);
      await writeFile(path, `${rows.join('\n')}\n`);
      expect((await run(SEATS, database.url, 'seats', 'import', 'shop', path)).code).toBe(1);
      return (await readFile(join(folder, `${name}.refused.csv`), 'utf8')).match(/line [^,"\n]*/g);
    };
    const problem = 'number is the number of another record with the same hall and start';
    expect(await refusedOf('first', SEAT_ROWS)).toEqual([`line 4: ${problem}`]);
    // Stored records refuse a row as the rows before it do.
    const stored = [`line 2: ${problem}`, `line 3: ${problem}`];
    expect(await refusedOf('second', SEAT_ROWS.slice(0, 3))).toEqual(stored);
  });
});

describe('without a way to read one record', () => {
  let running: RunningGateway;
  beforeEach(async () => {
    running = await startGateway(GATEWAY);
  });
  afterEach(() => running.stop());

  test('Define-11: a new record has no address', async () => {
    const { url, apiKey } = running;
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ sku: 'A' });
    const created = await fetch(`${url}/v1/articles`, { method: 'POST', headers, body });
    expect([created.status, created.headers.get('location')]).toEqual([201, null]);
    const { paths } = (await (await fetch(`${url}/v1/openapi.json`)).json()) as {
      paths: Record<string, { post: { responses: Record<number, { headers: object }> } }>;
    };
    expect(paths).not.toHaveProperty(['/articles/{articleId}']);
    expect(paths['/articles']?.post.responses[201]?.headers).not.toHaveProperty('Location');
  });
});

/** Runs a command of the gateway. */
async function run(gateway: Gateway, databaseUrl: string, ...args: string[]) {
  let printed = '';
  const sink = { write: (text: string) => (printed += text) };
  const output = new Output(false, { stdout: sink, stderr: sink });
  const before = process.env;
  process.env = { ...before, DATABASE_URL: databaseUrl };
  try {
    return { code: await runProgram(gateway, args, output), printed };
  } finally {
    process.env = before;
  }
}
