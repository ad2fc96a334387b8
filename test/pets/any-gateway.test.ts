import { readdir, readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import Fastify, { type FastifyInstance } from 'fastify';
import { RestFiles } from '../../src/doors/rest/document/rest-files.js';
import { accentStyle, contrast } from '../../src/doors/web/accent.js';
import { dashboardDoor } from '../../src/doors/web/dashboard.door.js';
import { pagesDoor } from '../../src/doors/web/pages.door.js';
import { Pages } from '../../src/doors/web/pages.js';
import { type DefinedNoun, defineNoun } from '../../src/noun/define-noun.js';
import { int64 } from '../../src/noun/kinds/int64.js';
import { text } from '../../src/noun/kinds/text.js';
import type { GatewayDescription } from '../../src/noun-words.js';
import { ownNames } from '../../src/request/http/headers.js';

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
const LIBRARY = { name: 'Library', slug: 'library', nouns: [books] } as const;
const CINEMA = { name: 'Cinema </script> & Co', slug: 'cinema-co', nouns: [films, books] } as const;
const ACCENT = '#7a1f5c';
const ICON = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M0 0h9v9z"/></svg>';
const ACME = { name: 'Acme Books', slug: 'acme', nouns: [books], icon: ICON, accentColor: ACCENT } as const;
const OF_PETS = /\b(?:[Pp]ets?|PETS?)\b|(?<=[a-z])Pets?\b|categoryId|\bRex\b/;

type Opened = Omit<GatewayDescription, 'nouns'> & { nouns: readonly [DefinedNoun, ...DefinedNoun[]] };

const apps: FastifyInstance[] = [];
let library: (path: string) => Promise<string>;
let cinema: typeof library;
beforeAll(async () => {
  library = await open(LIBRARY);
  cinema = await open(CINEMA);
});
afterAll(() => Promise.all(apps.map((app) => app.close())));

/** Serves the pages of a gateway with the files of the one build. Resolves with a function that reads a path. */
async function open({ nouns, ...brand }: Opened) {
  const [first, ...others] = nouns;
  const gateway = {
    ...brand,
    nouns: [first.description, ...others.map((noun) => noun.description)],
  } as const;
  const servers = () => [{ url: 'https://api.example.com/v1' }];
  const files = new RestFiles(gateway, servers, () =>
    Promise.all(nouns.map(async (noun) => (await noun.loadDoors()).rest(ownNames(brand.slug)))),
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

test('AnyGateway-5: every page has the icon and the accent colour of its gateway, and no inline style', async () => {
  const acme = await open(ACME);
  const icons = new Set<string>();
  const styles = new Set<string>();
  for (const path of ['/', '/v1/docs', '/graphiql', '/dashboard/']) {
    const page = await acme(path);
    const [, icon = ''] = /<link rel="icon"[^>]*href="([^"]+)"/.exec(page) ?? [];
    icons.add(icon);
    styles.add(/href="(\/pages\/accent-[^"]+)"/.exec(page)?.[1] ?? path);
    expect([path, /<style| style=/.exec(page)]).toEqual([path, null]);
    expect([path, /own-icon|accent-/.exec(await library(path))]).toEqual([path, null]);
  }
  const [icon = '', ...otherIcons] = icons;
  const [style = '', ...otherStyles] = styles;
  expect([otherIcons, otherStyles]).toEqual([[], []]);
  expect(await acme(icon)).toBe(ICON);
  expect(blockIn(await acme('/dashboard/')).icon).toBe(icon);
  const colours = [...(await acme(style)).matchAll(/(--[\w-]+):light-dark\((#\w{6}),(#\w{6})\)/g)];
  const [ink, hover] = [
    colours.find(([, name]) => name === '--accent-ink'),
    colours.find(([, name]) => name === '--accent-hover'),
  ];
  const accent = colours.find(([, name]) => name === '--accent');
  expect(accent?.[2]).toBe(ACCENT);
  for (const theme of [2, 3]) {
    for (const surface of [accent, hover]) {
      const [text = '', below = ''] = [ink?.[theme], surface?.[theme]];
      expect(contrast(text, below)).toBeGreaterThanOrEqual(4.5);
    }
  }
  for (const dark of ['#121415', '#0e1011', '#1b1e1f'])
    expect(contrast(accent?.[3] ?? '', dark)).toBeGreaterThanOrEqual(4.5);
});

test('AnyGateway-6: any accent colour that white text allows is readable in both themes', () => {
  const channels = ['00', '33', '66', '99', 'cc', 'ff'];
  const colours = channels.flatMap((red) =>
    channels.flatMap((green) => channels.map((blue) => `#${red}${green}${blue}`)),
  );
  const allowed = colours.filter((colour) => contrast(colour, '#ffffff') >= 4.5);
  expect(allowed.length).toBeGreaterThan(50);
  for (const colour of allowed) {
    const style = accentStyle(colour);
    const tokenOf = (name: string, theme: 1 | 2) =>
      new RegExp(`${name}:light-dark\\((#\\w{6}),(#\\w{6})\\)`).exec(style)?.[theme] ?? '';
    for (const theme of [1, 2] as const) {
      const [accent, soft, ink] = [
        tokenOf('--accent', theme),
        tokenOf('--accent-soft', theme),
        tokenOf('--accent-ink', theme),
      ];
      expect([colour, theme, contrast(ink, accent) >= 4.5]).toEqual([colour, theme, true]);
      // The current page in the navigation.
      expect([colour, theme, contrast(accent, soft) >= 4.5]).toEqual([colour, theme, true]);
    }
  }
});
