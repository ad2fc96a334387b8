import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createGateway, type LoadedGateway, loadGateway } from '../../src/app/gateway.js';
import { NewTable } from '../../src/ground/migrations/table-changes.js';
import { defineNoun } from '../../src/noun/define-noun.js';
import { choice } from '../../src/noun/kinds/choice.js';
import { int64 } from '../../src/noun/kinds/int64.js';
import { text } from '../../src/noun/kinds/text.js';
import { graphql, rest } from '../support/http/client.js';
import { startApp, type TestApp } from '../support/start-app.js';

const HOSTILE = `</script><script>alert(1)</script><img src=x onerror=alert(2)> "x" onmouseover="y" 'z' & \u2028`;
const PLAIN = 'Plain words';

/** A gateway with these words wherever an author may write what they want. */
async function gatewayOf(words: string): Promise<LoadedGateway> {
  const books = defineNoun({
    name: 'book',
    headline: words,
    withArticle: words,
    inputExamples: { create: words, change: words },
    examples: [{ task: words, query: `{ books { nodes { id } } } # ${words}`, variables: { words } }],
    fields: {
      title: text({
        label: words,
        article: words,
        description: `${words}.`,
        hint: words,
        example: words,
        max: 255,
      }),
      state: choice(
        { draft: words, active: words },
        { filter: true, description: `${words}.`, words: { rest: words } },
      ),
      pages: int64({ optional: true, label: words, description: `${words}.` }),
    },
    changes: true,
    count: true,
  });
  class Books1795000000000 extends NewTable {
    readonly table = books.table.table;
  }
  const migrations = [Books1795000000000];
  return loadGateway(createGateway({ name: words, slug: 'acme-books', nouns: [books], migrations }));
}

let hostile: TestApp;
let plain: TestApp;
beforeAll(async () => {
  const [one, other] = [await gatewayOf(HOSTILE), await gatewayOf(PLAIN)];
  [hostile, plain] = [await startApp({ gateway: one }), await startApp({ gateway: other })];
});
afterAll(() => Promise.all([hostile?.stop(), plain?.stop()]));

const read = async ({ url }: TestApp, path: string) => {
  const { status, text: body } = await rest(url, path, {
    headers: { accept: 'text/html, application/json' },
  });
  return { status, body };
};
/** Beside those of highlighted code, which depend on its words. */
const tagsOf = (page: string) => page.match(/<\/?(?!span\b)[a-z][\w-]*/gi);

test('Hostile-1: every page shows the words of a gateway as text', async () => {
  const { body: docs } = await read(hostile, '/v1/docs');
  const references = [...docs.matchAll(/href="(\/v1\/docs\/[^"#]+)"/g)].map(([, path = '']) => path);
  expect(references.length).toBeGreaterThan(15);
  const paths = ['/', '/v1/docs', '/graphiql', '/graphql', '/dashboard/', '/nothing', '/v1/docs/nothing'];
  for (const path of new Set([...paths, ...references])) {
    const [shown, usual] = [await read(hostile, path), await read(plain, path)];
    expect([path, shown.status]).toEqual([path, usual.status]);
    expect([path, tagsOf(shown.body)]).toEqual([path, tagsOf(usual.body)]);
    const withoutValues = shown.body.replaceAll(/="[^"]*"/g, '');
    expect([path, /<[^>]*\son(?:error|mouseover)/.exec(withoutValues)]).toEqual([path, null]);
  }
  const { body: home } = await read(hostile, '/');
  expect(home).toContain('&lt;/script&gt;&lt;script&gt;alert(1)');
});

test('Hostile-2: the data block of the dashboard has the words, and ends where it ends', async () => {
  const { body } = await read(hostile, '/dashboard/');
  const [, block = ''] = /<script type="application\/json" id="gateway">(.*?)<\/script>/s.exec(body) ?? [];
  const { name, nouns } = JSON.parse(block);
  expect([name, nouns[0].headline, nouns[0].fields[0].label]).toEqual([HOSTILE, HOSTILE, HOSTILE]);
});

test('Hostile-3: the documents are JSON with the words in them, and the schema can be read', async () => {
  const openApi = JSON.parse((await read(hostile, '/v1/openapi.json')).body);
  expect(openApi.info.title).toBe(HOSTILE);
  expect(openApi.components.schemas.NewBook.properties.title.examples).toEqual([HOSTILE]);
  expect(JSON.parse((await read(hostile, '/v1/postman.json')).body).info.name).toBe(HOSTILE);
  expect(JSON.parse((await read(hostile, '/v1/docs/search.json')).body)).toEqual(expect.any(Array));
  const { body: schema } = await read(hostile, '/schema.graphql');
  expect(schema).toContain('type Book');
  const { token } = await hostile.tenant();
  const { status } = await graphql(hostile.url, '{ __schema { types { name description } } }', { token });
  expect(status).toBe(200);
});
