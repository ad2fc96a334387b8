import { Agent } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { plain } from '../support/domains/served-domain.js';
import { rest } from '../support/http/client.js';
import { startApp, type TestApp } from '../support/start-app.js';

const BROWSER = { accept: 'text/html,*/*;q=0.8' };
const PER_MINUTE = 600;
const TOKEN = '/.well-known/acme-challenge/unknown';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ env: { TRUSTED_PROXIES: '127.0.0.1' } });
});
afterAll(() => app.stop());
// A minute in which no address has sent anything yet.
beforeEach(() => {
  app.clock.now += 60_000;
});

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

/** Paths, with the status that they answer without a key. */
const PATHS: { path: string; status: number; or?: number; host?: string }[] = [
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
  { path: '/v1/toys', status: 421, host: 'nobody.example.com' },
  { path: '/nowhere', status: 421, host: 'nobody.example.com' },
];

test('Limits-Visits-1: request 601 without a key is refused at every path, for its address and its minute', async () => {
  const statusOf = async (address: string, { path, host }: (typeof PATHS)[number]) =>
    visit(path, address, host === undefined ? {} : { host });
  const answered = (address: string) =>
    Promise.all(PATHS.map(async (asked) => ({ ...asked, is: (await statusOf(address, asked)).status })));
  const unexpected = (answers: Awaited<ReturnType<typeof answered>>) =>
    answers.filter(({ status, or = status, is }) => is !== status && is !== or);

  expect(unexpected(await answered('192.0.2.1'))).toEqual([]);
  await flood('192.0.2.1', PER_MINUTE - PATHS.length);
  let retryAfterSeconds = 0;
  for (const asked of PATHS) {
    const refused = await statusOf('192.0.2.1', asked);
    expect([asked, refused.status, refused.headers]).toEqual([
      asked,
      429,
      expect.objectContaining({
        'retry-after': expect.stringMatching(/^[1-9]\d?$/),
        'x-ratelimit-limit': '600',
        'x-ratelimit-remaining': '0',
        'cache-control': 'no-store',
      }),
    ]);
    if (asked.path !== '/graphql') expect(refused.code).toBe('rate_limited_minute');
    retryAfterSeconds = Number(refused.headers['retry-after']);
  }
  expect(unexpected(await answered('192.0.2.2'))).toEqual([]);
  app.clock.now += retryAfterSeconds * 1000;
  expect(unexpected(await answered('192.0.2.1'))).toEqual([]);
});

test('Limits-Visits-2: health, preflights and requests with a key are exempt, and spend nothing of it', async () => {
  const { token } = await app.tenant();
  await flood('192.0.2.1');
  expect((await visit('/nowhere', '192.0.2.1')).status).toBe(429);
  for (const path of ['/healthz', '/readyz']) expect((await visit(path, '192.0.2.1')).status).toBe(200);
  expect((await visit('/v1/toys', '192.0.2.1', { method: 'OPTIONS' })).status).toBe(204);
  expect((await visit('/v1/docs', '192.0.2.1', { method: 'OPTIONS' })).status).toBe(204);
  const headers = { 'x-forwarded-for': '192.0.2.1' };
  expect((await rest(app.url, '/v1/toys', { token, headers })).status).toBe(200);
  // Requests to a door without a key have a separate limit of 60.
  const lacking = await rest(app.url, '/v1/toys', { headers });
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
    () => plain(app, 'localhost', '/v1/toys/%zz', { token }),
    () => plain(app, 'nobody.example.com', '/v1/toys', { token }),
    () => plain(app, 'nobody.example.com', '/graphql', { token }),
    () => plain(app, 'a/b', '/v1/toys', { token }),
  ];
  for (const ask of asked) {
    const { status, headers } = await ask();
    expect([400, 421]).toContain(status);
    expect([headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']]).toEqual(['300', '300']);
  }
  const { headers } = await plain(app, 'nobody.example.com', '/v1/toys', { token: `${token}x` });
  expect(headers['x-ratelimit-limit']).toBe('60');
});
