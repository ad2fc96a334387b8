import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../support/databases.js';
import { createTenant, type GatewayProcess } from '../support/gateway-process.js';
import { filesOf, startObservedGateway } from '../support/http/ran-files.js';

interface Flow {
  what: string;
  /** The headings of docs/request-path.md with the files that run for it. */
  headings: readonly string[];
  request: (number: number) => Request;
  /** How many files run today. The number may fall, and not rise. */
  most: number;
}

const FLOWS: readonly Flow[] = [
  {
    what: 'a REST list from memory',
    headings: ['Every request', 'A REST request'],
    request: () => rest('limit=1'),
    most: 29,
  },
  {
    what: 'a REST list from the database',
    headings: ['Every request', 'A REST request', 'A list from the database'],
    request: (number) => rest(`limit=${number + 2}`),
    most: 42,
  },
  {
    what: 'a new GraphQL query',
    headings: ['Every request', 'A GraphQL request', 'A new query'],
    request: (number) => graphql(`{ toys { nodes { name${number}: name } } }`),
    most: 58,
  },
  {
    what: 'a GraphQL mutation',
    headings: ['Every request', 'A GraphQL request', 'A mutation'],
    request: (number) =>
      graphql(`mutation { createToy(input: { name: "Rex ${number}", categoryId: "1" }) { id } }`),
    most: 62,
  },
];

let database: TestDatabase;
let gateway: GatewayProcess;
let headers: Record<string, string>;

const rest = (query: string) => new Request(`${gateway.url}/v1/toys?${query}`, { headers });
const graphql = (query: string) =>
  new Request(`${gateway.url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) });

beforeAll(async () => {
  database = await createTestDatabase('sqlite');
  gateway = await startObservedGateway(database.url);
  const token = await createTenant(database.url);
  headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  // Then the key is known, libraries are loaded, and the first list is in memory.
  for (const { request } of FLOWS) await filesOf(gateway, request);
});
afterAll(async () => {
  await gateway?.kill('SIGKILL');
  await database?.remove();
});

/** D-214. */
describe('Path-4: docs/request-path.md names the files that run, and no others, for', () => {
  test.each(FLOWS)('$what', async ({ headings, request, most }) => {
    const page = await readFile('docs/request-path.md', 'utf8');
    const named = headings.flatMap((heading) => filesBelow(heading, page));
    const ran = await filesOf(gateway, (number) => request(number + 20));
    expect([...new Set(named)].sort()).toEqual(ran);
    expect(ran.length).toBeLessThanOrEqual(most);
  });
});

/** The files in the table below a heading. */
function filesBelow(heading: string, page: string): string[] {
  const [, below = ''] = page.split(`\n## ${heading}\n`);
  const rows = below.split('\n## ')[0]?.match(/^\|.*$/gm) ?? [];
  return rows.flatMap((row) => [...row.matchAll(/`(src\/[^`]+)`/g)].map(([, path = '']) => path));
}
