import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { graphql, rest } from './support/client.js';
import { startApp, type Tenant, type TestApp } from './support/start-app.js';

let app: TestApp;
let tenant: Tenant;
const lines: string[] = [];

beforeAll(async () => {
  app = await startApp({ onLog: (line) => lines.push(line) });
  tenant = await app.tenant();
});
afterAll(() => app.stop());

test('Log-1: each request is one line, found by the X-Request-Id of its answer', async () => {
  const answers = [
    await rest(app.url, '/v1/pets?limit=1', { token: tenant.token }),
    await rest(app.url, '/v1/pets'),
    await rest(app.url, '/nowhere'),
    await rest(app.url, '/v1/pets', { method: 'POST', token: tenant.token, body: '{' }),
    await graphql(app.url, '{ project { slug } }', { token: tenant.token }),
    await graphql(app.url, '{', { token: tenant.token }),
    await rest(app.url, '/%zz'),
  ];
  for (const { headers, status } of answers) {
    const id = headers.get('x-request-id');
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    const found = lines.map((line) => JSON.parse(line)).filter(({ requestId }) => requestId === id);
    expect(found).toEqual([
      expect.objectContaining({ status, method: expect.any(String), durationMs: expect.any(Number) }),
    ]);
  }
});

test('Log-2: no token, query, body or control character of a client reaches the log', async () => {
  await rest(app.url, '/v1/pets?status=secret%0aquery', {
    token: tenant.token,
    headers: { 'x-forwarded-for': 'secret' },
  });
  await rest(app.url, '/v1/pets', { method: 'POST', token: tenant.token, body: '{"name":"secret body"' });
  await rest(app.url, '/v1/pets', { token: `${tenant.token.slice(0, -1)}_` });
  await graphql(app.url, 'query { pet(id: "secret") { id } }', { token: tenant.token });
  await rest(app.url, '/line%0abreak', { token: tenant.token });
  const log = lines.join('');
  expect(log).not.toContain('secret');
  expect(log).not.toContain(tenant.token.slice(3, 30));
  for (const line of lines) expect(line.trimEnd()).not.toMatch(/\n/);
});

test('Log-3: a fault of ours is logged with its cause and shown without it', async () => {
  await app.db.close();
  const broken = await rest(app.url, '/v1/pets', { token: tenant.token });
  expect([broken.status >= 500, broken.text]).toEqual([
    true,
    expect.not.stringMatching(/sqlite|typeorm|connection/i),
  ]);
  const id = broken.headers.get('x-request-id');
  const entries = lines.map((line) => JSON.parse(line)).filter(({ requestId }) => requestId === id);
  expect(entries.length).toBe(2);
});
