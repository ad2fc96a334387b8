import { readdir, readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import Fastify, { type FastifyInstance } from 'fastify';
import { RestFiles } from '../../src/doors/rest/document/rest-files.js';
import { dashboardDoor } from '../../src/doors/web/dashboard.door.js';
import { pagesDoor } from '../../src/doors/web/pages.door.js';
import { Pages } from '../../src/doors/web/pages.js';
import { type DefinedNoun, defineNoun } from '../../src/noun/define-noun.js';
import { int64 } from '../../src/noun/definition/int64.js';
import { text } from '../../src/noun/definition/text.js';

const books = defineNoun({
  name: 'book',
  headline: 'An API of books',
  fields: { title: text({ example: 'Middlemarch' }), priceCents: int64({ label: 'Price', example: 799n }) },
});
const films = defineNoun({
  name: 'film',
  headline: 'An API of films',
  fields: { name: text({ example: 'Metropolis' }) },
  count: true,
  changes: true,
});
const LIBRARY = { name: 'Library', nouns: [books] } as const;
const CINEMA = { name: 'Cinema </script> & Co', nouns: [films, books] } as const;
const OF_PETS = /\b(?:[Pp]ets?|PETS?)\b|(?<=[a-z])Pets?\b|categoryId|\bRex\b/;

const apps: FastifyInstance[] = [];
let library: (path: string) => Promise<string>;
let cinema: typeof library;
beforeAll(async () => {
  library = await open(LIBRARY);
  cinema = await open(CINEMA);
});
afterAll(() => Promise.all(apps.map((app) => app.close())));

/** Serves the pages of a gateway with the files of the one build. Resolves with a function that reads a path. */
async function open({ name, nouns }: { name: string; nouns: readonly [DefinedNoun, ...DefinedNoun[]] }) {
  const [first, ...others] = nouns;
  const gateway = { name, nouns: [first.description, ...others.map((noun) => noun.description)] } as const;
  const servers = () => [{ url: 'https://api.example.com/v1' }];
  const files = new RestFiles(gateway, servers, () =>
    Promise.all(nouns.map(async (noun) => (await noun.loadDoors()).rest())),
  );
  const pages = await Pages.open({
    projects: { get: () => Promise.reject(new Error('no page asks for a project')) },
    servers,
    gateway,
    schemaText: () => '',
    openApiText: () => files.openApiText(),
  });
  const app = Fastify();
  apps.push(app);
  app.decorateRequest('site');
  app.addHook('onRequest', async (request) => {
    request.site = { projectId: null, origin: null, canonicalUrl: null, isServed: null };
  });
  await app.register(async (door) => pagesDoor(door, pages));
  await app.register(async (door) => dashboardDoor(door, gateway), { prefix: '/dashboard' });
  app.get('/v1/openapi.json', async (request, reply) =>
    (await files.openApi()).sendNegotiated(request, reply),
  );
  app.get('/v1/postman.json', async (request, reply) =>
    (await files.postman()).sendNegotiated(request, reply),
  );
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  return async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`);
    expect([path, answer.status]).toEqual([path, 200]);
    return answer.text();
  };
}

const blockIn = (page: string) => {
  const [, block = ''] = /<script type="application\/json" id="gateway">(.*?)<\/script>/.exec(page) ?? [];
  return JSON.parse(block);
};

test('AnyGateway-1: one build serves the pages of gateways with other nouns and names', async () => {
  for (const [read, nouns, title] of [
    [library, ['Book'], 'Library'],
    [cinema, ['Film', 'Book'], 'Cinema &lt;/script&gt; &amp; Co'],
  ] as const) {
    const docs = await read('/v1/docs');
    const paths = [...docs.matchAll(/href="(\/v1\/docs\/[^"#]+)"/g)].map(([, path = '']) => path);
    for (const noun of nouns) expect(paths).toContain(`/v1/docs/create${noun}`);
    for (const path of ['/', '/v1/docs', '/graphiql', ...new Set(paths)]) {
      const page = await read(path);
      expect([path, page.includes(title), OF_PETS.exec(page)]).toEqual([path, true, null]);
    }
    expect(OF_PETS.exec(await read('/v1/docs/search.json'))).toBeNull();
  }
  expect(await library('/')).toContain('<h1>An API of books</h1>');
  expect(await library('/v1/docs/authentication')).not.toContain('films:');
  expect(await cinema('/v1/docs/authentication')).toContain('films:write');
});

test('AnyGateway-2: the dashboard and GraphiQL are the same files, and a data block tells them what the gateway serves', async () => {
  for (const path of ['/dashboard/', '/graphiql']) {
    const [ofLibrary, ofCinema] = [await library(path), await cinema(path)];
    expect(blockIn(ofLibrary)).toEqual({ name: LIBRARY.name, nouns: [books.description] });
    // A name can't end the block.
    expect(blockIn(ofCinema)).toEqual({ name: CINEMA.name, nouns: [films.description, books.description] });
    const scriptsOf = (page: string) => page.match(/src="[^"]+"/g);
    expect(scriptsOf(ofCinema)).toEqual(scriptsOf(ofLibrary));
  }
  expect(await cinema('/dashboard/activity')).toContain('<title>Cinema &lt;/script&gt; &amp; Co</title>');
});

test('AnyGateway-3: the OpenAPI document and the Postman collection are of the nouns and the name', async () => {
  const text = await cinema('/v1/openapi.json');
  const { info, paths, servers } = JSON.parse(text);
  expect([info.title, servers]).toEqual([CINEMA.name, [{ url: 'https://api.example.com/v1' }]]);
  expect(Object.keys(paths)).toEqual([
    ...['/films', '/films/changes', '/films/{filmId}', '/books', '/books/{bookId}'],
    ...['/rate_limit', '/openapi.json', '/postman.json'],
  ]);
  const collection = await cinema('/v1/postman.json');
  expect(JSON.parse(collection).info.name).toBe(CINEMA.name);
  expect([OF_PETS.exec(text), OF_PETS.exec(collection)]).toEqual([null, null]);
});

test('AnyGateway-4: no built file knows a noun, and the product only where it is named in all gateways', async () => {
  const files = await readdir('dist/public', { recursive: true });
  const texts = files.filter((file) => /\.(js|css|html|svg|json)$/.test(file));
  expect(texts.length).toBeGreaterThan(20);
  for (const file of texts) {
    const text = await readFile(join('dist/public', file), 'utf8');
    const found = /["'`/][Pp]ets?["'`:/?]|listPets|PetStatus|categoryId|["'`]Rex["'`]|Petstore Gateway/.exec(
      text,
    );
    expect([file, found]).toEqual([file, null]);
  }
});
