import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createGateway } from '../../src/app/gateway.js';
import { startGateway } from '../../src/testing/testing.js';
import { GATEWAY } from '../support/gateway/tested-gateway.js';
import { graphql, rest } from '../support/http/client.js';
import { toys } from '../support/nouns/toys.js';
import { freePort } from '../support/servers/daemon.js';
import { startApp, TEST_ACTOR, type TestApp } from '../support/start-app.js';

type Options = Omit<Parameters<typeof createGateway>[0], 'nouns'>;
const made = (options: Options) => createGateway({ ...options, nouns: [toys] });
const ICON = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M0 0h9v9z"/></svg>';

test.each([
  ['Petstore Gateway', 'petstore'],
  ['Acme Books', 'acme-books'],
  ['Gateway', 'gateway'],
  ['Bücher & Söhne GATEWAY', 'bucher-sohne'],
  ['Cinema </script> & Co', 'cinema-script-co'],
])('Brand-1: the slug of %s is %s', (name, slug) => {
  expect(made({ name }).slug).toBe(slug);
});

const SLUG = { name: 'Acme' };
test.each<[string, Options]>([
  [`The name "Книги" makes no slug. State one, such as slug: 'acme-books'.`, { name: 'Книги' }],
  ['The name "3D Models" makes no slug.', { name: '3D Models' }],
  ['The slug "Acme" can\'t be used: it must be up to 40 lower-case letters', { ...SLUG, slug: 'Acme' }],
  ['The slug "" can\'t be used', { ...SLUG, slug: '' }],
  ['The slug "a--b" can\'t be used', { ...SLUG, slug: 'a--b' }],
  ['The slug "proxy-books" can\'t be used', { ...SLUG, slug: 'proxy-books' }],
  ['The slug "a\\r\\nb: c" can\'t be used', { ...SLUG, slug: 'a\r\nb: c' }],
  ['The accent colour "red" can\'t be used: it must be six hexadecimal', { ...SLUG, accentColor: 'red' }],
  ['white text on it has a contrast of 2.3 and needs 4.5', { ...SLUG, accentColor: '#4fb3ff' }],
  ["The icon can't be used: it is no SVG image.", { ...SLUG, icon: 'logo.png' }],
  ["The icon can't be used: its svg element lacks xmlns", { ...SLUG, icon: '<svg viewBox="0 0 1 1"></svg>' }],
  ['it has a script, a handler', { ...SLUG, icon: ICON.replace('<path', '<script>x</script><path') }],
  ['it has a script, a handler', { ...SLUG, icon: ICON.replace('<path', '<path onload="x()"') }],
  ["The icon can't be used: it is larger than 20 KB", { ...SLUG, icon: ICON.padEnd(20_001, ' ') }],
  ["The icon can't be used: ENOENT", { ...SLUG, icon: pathToFileURL('/no/such/icon.svg') }],
])('Brand-2: what cannot be shown or named is refused when the gateway is made: %s', (message, options) => {
  expect(() => made(options)).toThrow(message);
});

test('Brand-3: an icon may be text or a file, and a colour in capitals is the same colour', () => {
  const ofFile = made({ name: 'Acme', icon: pathToFileURL('browser/design/icon.svg') });
  expect(ofFile.icon).toContain('<title>Gateway</title>');
  const drawn = `<?xml version="1.0"?>\n<!-- Drawn. -->\n${ICON}\n`;
  expect(made({ name: 'Acme', icon: drawn, accentColor: '#7A1F5C' })).toMatchObject({
    icon: ICON,
    accentColor: '#7a1f5c',
  });
});

let app: TestApp;
let metricsPort: number;
beforeAll(async () => {
  metricsPort = await freePort();
  const env = { METRICS_PORT: String(metricsPort), PETSTORE_ENV: 'staging' };
  app = await startApp({ gateway: { ...GATEWAY, name: 'Acme Books', slug: 'acme-books' }, env });
});
afterAll(() => app.stop());

test('Brand-4: headers, their documents and metrics begin with the slug', async () => {
  const { token, slug, projectId } = await app.tenant();
  await app.app.services.projects.change(TEST_ACTOR, slug, { isLogged: true });
  app.clock.now += 60_000;
  const list = await rest(app.url, '/v1/toys?nonsense=1', { token });
  expect(list.headers.get('acme-books-ignored-parameters')).toBe('nonsense');
  expect(list.headers.get('acme-books-changes-cursor')).toMatch(/^\w/);
  expect(list.headers.get('access-control-expose-headers')).toContain(
    'Acme-Books-Changes-Cursor, Acme-Books-Ignored-Parameters, Acme-Books-Rehearse, Acme-Books-Strikes',
  );
  for (const { headers } of [await rest(app.url, '/v1/toys'), await graphql(app.url, '{ project { slug } }')])
    expect(headers.get('www-authenticate')).toBe('Bearer realm="acme-books"');

  const key = { projectId, name: 'r', scopes: ['toys:read'], expiresAtMs: null, rehearses: true } as const;
  const { token: rehearsing } = await app.app.services.apiKeys.create(TEST_ACTOR, key);
  const rehearsed = (value: string) =>
    rest(app.url, '/v1/toys', { token: rehearsing, headers: { 'acme-books-rehearse': value } });
  const banned = await rehearsed('banned');
  expect([banned.status, banned.headers.get('acme-books-rehearse')]).toEqual([429, 'banned']);
  expect((await rehearsed('nonsense')).body.errors[0].field).toBe('Acme-Books-Rehearse');

  const texts = await Promise.all(
    ['/v1/openapi.json', '/v1/docs', '/v1/docs/limits', '/v1/docs/clients'].map(
      async (path) =>
        (await rest(app.url, path, { headers: { accept: 'text/html, application/json' } })).text,
    ),
  );
  const { text: metrics } = await rest(`http://127.0.0.1:${metricsPort}`, '/metrics');
  expect(metrics).toContain('acme_books_rate_limit_decisions_total{decision="admitted"}');
  expect(metrics).toContain('\nacme_books_ready 1');
  const names = ['Strikes', 'Changes-Cursor', 'Ignored-Parameters'];
  for (const name of names) expect(texts[0]).toContain(`"Acme-Books-${name}"`);
  for (const text of [...texts, metrics, ...list.headers.keys()])
    expect(/petstore[-_](?!gateway)/i.exec(text)).toBeNull();
});

test('Brand-5: without PLATFORM_HOST the hosts of projects end with the slug', async () => {
  const { url, apiKey, stop } = await startGateway(made({ name: 'Acme Books' }));
  try {
    const { body } = await graphql(url, '{ project { url } }', { token: apiKey });
    expect(new URL(body.data.project.url).hostname).toBe('test.acme-books.localhost');
  } finally {
    await stop();
  }
});
