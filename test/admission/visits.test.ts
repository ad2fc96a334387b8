import { Agent } from 'node:http';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { plain } from '../support/domains/served-domain.js';
import { rest } from '../support/http/client.js';
import { startApp, type TestApp } from '../support/start-app.js';

const BROWSER = { accept: 'text/html,*/*;q=0.8' };
const PER_MINUTE = 600;
const TOKEN = '/.well-known/acme-challenge/unknown';

let app: TestApp;
beforeEach(async () => {
  app = await startApp({ env: { TRUSTED_PROXIES: '127.0.0.1' } });
});
afterEach(() => app.stop());

const visit = (path: string, address: string, options: { host?: string; method?: string } = {}) =>
  plain(app, options.host ?? 'localhost', path, {
    method: options.method ?? 'GET',
    headers: { ...BROWSER, 'x-forwarded-for': address },
  });

async function flood(address: string, count = PER_MINUTE, path = '/nowhere'): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 10 });
  const ask = () =>
    plain(app, 'localhost', path, { method: 'HEAD', headers: { 'x-forwarded-for': address }, agent });
  await Promise.all(Array.from({ length: count }, ask));
  agent.destroy();
}

test.each([
  { path: '/', status: 200 },
  { path: '/graphiql', status: 200 },
  { path: '/graphql', status: 200 },
  { path: '/v1/docs', status: 200 },
  { path: '/v1/openapi.json', status: 200 },
  { path: '/pages/nothing.js', status: 404 },
  { path: '/dashboard/assets/nothing.js', status: 404, or: 503 },
  { path: '/nowhere', status: 404 },
  { path: TOKEN, status: 404 },
  { path: '/%zz', status: 400 },
  { path: '/v1/%zz', status: 400 },
  { path: '/v1/pets', status: 421, host: 'nobody.example.com' },
  { path: '/nowhere', status: 421, host: 'nobody.example.com' },
])('Limits-Visits-1: request 601 without a key is refused: $path, else $status', async (asked) => {
  const { path, status, host, or = status } = asked;
  const options = host === undefined ? {} : { host };
  const first = await visit(path, '192.0.2.1', options);
  expect([status, or]).toContain(first.status);
  await flood('192.0.2.1', PER_MINUTE - 1);
  const refused = await visit(path, '192.0.2.1', options);
  expect([refused.status, refused.headers['retry-after'], refused.headers['x-ratelimit-limit']]).toEqual([
    429,
    expect.stringMatching(/^[1-9]\d?$/),
    '600',
  ]);
  expect(refused.headers).toMatchObject({ 'x-ratelimit-remaining': '0', 'cache-control': 'no-store' });
  if (path !== '/graphql') expect(refused.code).toBe('rate_limited_minute');
  // The limit is of this address and of this minute only.
  expect([status, or]).toContain((await visit(path, '192.0.2.2', options)).status);
  app.clock.now += Number(refused.headers['retry-after']) * 1000;
  expect([status, or]).toContain((await visit(path, '192.0.2.1', options)).status);
});

test('Limits-Visits-2: health, preflights and requests with a key are exempt, and spend nothing of it', async () => {
  const { token } = await app.tenant();
  await flood('192.0.2.1');
  expect((await visit('/nowhere', '192.0.2.1')).status).toBe(429);
  for (const path of ['/healthz', '/readyz']) expect((await visit(path, '192.0.2.1')).status).toBe(200);
  expect((await visit('/v1/pets', '192.0.2.1', { method: 'OPTIONS' })).status).toBe(204);
  expect((await visit('/v1/docs', '192.0.2.1', { method: 'OPTIONS' })).status).toBe(204);
  const headers = { 'x-forwarded-for': '192.0.2.1' };
  expect((await rest(app.url, '/v1/pets', { token, headers })).status).toBe(200);
  // Requests to a door without a key have a separate limit of 60.
  const lacking = await rest(app.url, '/v1/pets', { headers });
  expect([lacking.status, lacking.headers.get('x-ratelimit-remaining')]).toEqual([401, '59']);
});

test('Limits-Visits-3: answers within the limit do not show it', async () => {
  for (const path of ['/', '/v1/docs', '/graphiql', '/nowhere', TOKEN]) {
    expect([path, (await visit(path, '192.0.2.1')).headers['x-ratelimit-limit']]).toEqual([path, undefined]);
  }
  for (const path of ['/v1/openapi.json', '/graphql']) {
    const { headers } = await visit(path, '192.0.2.1');
    expect([path, headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']]).toEqual([
      path,
      '60',
      '60',
    ]);
  }
});

test("Limits-Visits-4: a refusal before the doors shows the quota of the request's key, and spends none of it", async () => {
  const { token } = await app.tenant({ plan: 'PRO' });
  const asked = [
    () => plain(app, 'localhost', '/v1/pets/%zz', { token }),
    () => plain(app, 'nobody.example.com', '/v1/pets', { token }),
    () => plain(app, 'nobody.example.com', '/graphql', { token }),
    () => plain(app, 'a/b', '/v1/pets', { token }),
  ];
  for (const ask of asked) {
    const { status, headers } = await ask();
    expect([400, 421]).toContain(status);
    expect([headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']]).toEqual(['300', '300']);
  }
  const { headers } = await plain(app, 'nobody.example.com', '/v1/pets', { token: `${token}x` });
  expect(headers['x-ratelimit-limit']).toBe('60');
});
