import { version } from '../../ground/kernel/package.js';
import { capitalized } from '../../noun-words.js';

const PACKAGE = 'petstore-gateway';

/** A file that `petstore new` writes. Afterwards it is the author's. */
export interface NewFile {
  readonly path: string;
  readonly text: string;
}

export const MANIFEST = 'package.json';
/** `graphql-rate-limit` asks for an older graphql. An upgrade would install both, and two copies build no schema. D-284. */
const ONE_GRAPHQL = '^16';

interface Manifest {
  readonly name?: string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly overrides?: Readonly<Record<string, unknown>>;
}

/**
 * The files of a new gateway with one noun, in TypeScript or, for a Node that does not run it, in JavaScript. An existing
 * manifest keeps its entries, such as the source of the package.
 */
export function newFiles(folder: string, existing: Manifest, isTypeScript: boolean): NewFile[] {
  const ext = isTypeScript ? 'ts' : 'js';
  const words = (existing.name ?? folder).toLowerCase().match(/[a-z0-9]+/g) ?? ['gateway'];
  const title = words.map(capitalized).join(' ');
  const { test, ...scripts } = existing.scripts ?? {};
  // `npm init` writes a test that fails.
  const tests =
    test === undefined || /no test specified/.test(test) ? `node --test gateway.test.${ext}` : test;
  const manifest = {
    ...existing,
    name: existing.name ?? words.join('-'),
    private: true,
    type: 'module',
    scripts: { start: 'petstore start', dev: 'petstore dev', test: tests, ...scripts },
    dependencies: { [PACKAGE]: `^${version()}`, ...existing.dependencies },
    overrides: { graphql: ONE_GRAPHQL, ...existing.overrides },
  };
  return [
    { path: MANIFEST, text: `${JSON.stringify(manifest, null, 2)}\n` },
    { path: `gateway.${ext}`, text: GATEWAY.replace('{{title}}', title) },
    { path: `migrations/1790000000000-books.${ext}`, text: MIGRATION },
    { path: `gateway.test.${ext}`, text: TEST.replace('{{ext}}', ext) },
    { path: 'README.md', text: README.replace('{{title}}', title).replaceAll('{{ext}}', ext) },
  ];
}

const GATEWAY = `import { choice, createGateway, date, defineNoun, int64, text } from '${PACKAGE}';

const books = defineNoun({
  name: 'book',
  fields: {
    title: text({ max: 255, filter: 'start', example: 'Moby Dick' }),
    isbn: text({ max: 13, pattern: /^\\d{13}$/, unique: true, optional: true, label: 'ISBN', example: '9780142437247' }),
    priceCents: int64({ min: 0n, example: 1299n }),
    state: choice({ draft: 'Not for sale.', active: 'For sale.' }, { filter: true, default: 'draft' }),
    publishedOn: date({ optional: true }),
  },
  count: true,
  demo: [
    { title: 'Moby Dick', priceCents: 1299n, state: 'active', publishedOn: '1851-10-18' },
    { title: 'Middlemarch', priceCents: 1499n },
  ],
});

export default createGateway({
  name: '{{title}}',
  nouns: [books],
  migrations: new URL('./migrations/', import.meta.url),
});
`;

const MIGRATION = `import { NewTable } from '${PACKAGE}/migrations';

/** Creates the table books. */
export class Books1790000000000 extends NewTable {
  table = {
    name: 'books',
    withoutRowid: true,
    columns: [
      { name: 'project_id', type: 'bigint', isPrimary: true },
      { name: 'id', type: 'bigint', isPrimary: true },
      { name: 'title', type: 'varchar', length: '255' },
      { name: 'isbn', type: 'varchar', length: '13', isNullable: true },
      { name: 'price_cents', type: 'bigint' },
      { name: 'state', type: 'varchar', length: '16', default: "'draft'" },
      { name: 'published_on', type: 'varchar', length: '10', isNullable: true },
      { name: 'created_at_ms', type: 'bigint' },
    ],
    indices: [
      {
        name: 'books_title',
        columnNames: ['project_id', 'title', 'id', 'isbn', 'price_cents', 'state', 'published_on', 'created_at_ms'],
      },
      {
        name: 'books_state',
        columnNames: ['project_id', 'state', 'id', 'title', 'isbn', 'price_cents', 'published_on', 'created_at_ms'],
      },
      {
        name: 'books_state_title',
        columnNames: ['project_id', 'state', 'title', 'id', 'isbn', 'price_cents', 'published_on', 'created_at_ms'],
      },
      { name: 'books_isbn', columnNames: ['project_id', 'isbn'], isUnique: true },
    ],
  };
}
`;

const TEST = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nounSuites, startGateway } from '${PACKAGE}/testing';
import gateway from './gateway.{{ext}}';

/** The promises of every resource, in both APIs. */
nounSuites(gateway, {
  noun: 'book',
  input: (n) => ({ title: \`Book \${n}\`, isbn: String(9780000000000 + n), priceCents: 999n }),
  change: (n) => ({ title: \`Changed \${n}\` }),
});

test('a new book is a draft', async (t) => {
  const { url, apiKey, stop } = await startGateway(gateway);
  t.after(stop);
  const created = await fetch(\`\${url}/v1/books\`, {
    method: 'POST',
    headers: { authorization: \`Bearer \${apiKey}\`, 'content-type': 'application/json' },
    body: JSON.stringify({ title: 'Ulysses', priceCents: 999 }),
  });
  assert.match(await created.text(), /"state":"draft"/);
});
`;

const README = `# {{title}}

\`npm install\`, then \`npm start\`: it serves books in REST and GraphQL on http://127.0.0.1:4000, and prints a key.

- \`gateway.{{ext}}\` defines the gateway and its resources. \`npm run dev\` starts it again after each change.
- After a change of a field: \`npx petstore migrate --write\`, read the new file in \`migrations/\`, start again.
- \`npm test\` tests it on a database in memory; with \`TEST_DATABASE_URL\`, on that empty one.
- \`npx petstore --help\` lists the commands: projects, API keys, imports, exports, backups.
- Settings are environment variables. Set \`DATABASE_URL\` to use MySQL or MariaDB.
- To upgrade: \`npm install petstore-gateway@latest\`.
`;
