import { afterAll, beforeAll, beforeEach, describe, expect } from '@jest/globals';
import { type Connection, createConnection } from 'mysql2/promise';
import { digestOf, newToken } from '../../src/tenants/api-keys/token.js';
import { RequestFlood } from '../support/attacks/request-flood.js';
import { eventually } from '../support/eventually.js';
import { rest } from '../support/http/client.js';
import { testOnMysql as test } from '../support/on-databases.js';
import { freePort } from '../support/servers/daemon.js';
import { startApp, type Tenant, type TestApp } from '../support/start-app.js';

const CONNECTIONS = 160;
const MESSAGE = 'The gateway has too many requests at the moment. Try again after the time in Retry-After.';
const SUMMARY = 'overloaded: requests are refused';
const ORIGIN = 'https://studio.apollographql.com';

let app: TestApp;
let metricsUrl: string;
let locks: Connection;
let flooding: Tenant;
let flood: RequestFlood | null = null;
const lines: string[] = [];
const digests = new Set<unknown>();

beforeAll(async () => {
  const metricsPort = await freePort();
  metricsUrl = `http://127.0.0.1:${metricsPort}`;
  app = await startApp({
    kind: 'mysql',
    env: { METRICS_PORT: String(metricsPort), OVERLOAD: 'on' },
    onLog: (line) => lines.push(line),
    onQuery: (_, parameters) => {
      for (const parameter of parameters) digests.add(parameter);
    },
  });
  flooding = await app.tenant();
  const { database } = app.config;
  if (database.kind === 'sqlite') throw new Error('the test needs MySQL');
  locks = await createConnection(database.url);
});
afterAll(async () => {
  await locks.end();
  await flood?.stop();
  await app.stop();
});

/** The database answers nothing about toys, so that every list waits for a connection. */
async function overload(): Promise<RequestFlood> {
  const begun = lines.length;
  await locks.query('LOCK TABLES toys WRITE');
  const started = new RequestFlood(app.url, {
    connections: CONNECTIONS,
    betweenMs: 50,
    ask: (index) => ({ ...listOf(index), headers: headersOf(flooding.token) }),
  });
  const isRefusing = () => lines.slice(begun).some((line) => line.includes(SUMMARY));
  await eventually('overloaded', () => started.answered > 1_000 && isRefusing());
  return started;
}
const headersOf = (token: string) => ({
  authorization: `Bearer ${token}`,
  'apollo-require-preflight': '1',
});

/** Lists through both doors, all of them different. */
function listOf(index: number): { path: string } {
  const first = 1 + (index % 90);
  if (index % 2 === 0) return { path: `/v1/toys?limit=${first}` };
  return { path: `/graphql?query=${encodeURIComponent(`{ toys(first: ${first}) { nodes { id } } }`)}` };
}

/** The first refusal of the limit among requests that are sent at once. */
async function refusal(path: string, headers: Record<string, string> = {}) {
  for (let turn = 0; turn < 10; turn += 1) {
    const sent = Array.from({ length: 40 }, () => rest(app.url, path, { token: flooding.token, headers }));
    const refused = (await Promise.all(sent)).find(({ text }) => text.includes(MESSAGE));
    if (refused) return refused;
  }
  throw new Error('nothing was refused');
}

describe('during a flood', () => {
  // A retry runs after the last of these tests, which ends the flood.
  beforeEach(async () => {
    flood ??= await overload();
  });

  test('Overload-16: REST answers 503 unavailable, with Retry-After of 1 to 3 s', async () => {
    const { status, headers, body } = await refusal('/v1/toys?limit=91', { origin: ORIGIN });
    expect(status).toBe(503);
    expect(body).toEqual({ code: 'unavailable', message: MESSAGE, status: 503 });
    expect(headers.get('retry-after')).toMatch(/^[123]$/);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(headers.get('access-control-allow-origin')).toBe(ORIGIN);
    expect(headers.get('access-control-expose-headers')).toContain('Retry-After');
  });

  test("Overload-17: GraphQL answers the same in its own form, and in the client's media type", async () => {
    const { path } = listOf(91);
    const asked = { 'apollo-require-preflight': '1', accept: 'application/graphql-response+json' };
    const { status, headers, body } = await refusal(path, asked);
    const retryAfterSeconds = Number(headers.get('retry-after'));
    expect(status).toBe(503);
    expect([1, 2, 3]).toContain(retryAfterSeconds);
    expect(headers.get('content-type')).toBe('application/graphql-response+json; charset=utf-8');
    const extensions = { code: 'UNAVAILABLE', status: 503, retryAfterSeconds };
    expect(body).toEqual({ errors: [{ message: MESSAGE, extensions }] });
  });

  test('Overload-18: a refused request is not charged', async () => {
    const { token } = await app.tenant({ plan: 'PRO' });
    const remaining = async () => (await rest(app.url, '/v1/rate_limit', { token })).body.minute.remaining;
    const before = await remaining();
    const sent = Array.from({ length: 60 }, () => rest(app.url, '/v1/toys?limit=92', { token }));
    const refused = (await Promise.all(sent)).filter(({ text }) => text.includes(MESSAGE));
    expect(refused.length).toBeGreaterThan(0);
    expect(before - (await remaining())).toBe(60 - refused.length);
  });

  test('Overload-19: a key that is refused unknown is not looked up, and a valid one becomes known', async () => {
    const tokens = Array.from({ length: 60 }, newToken);
    const sent = tokens.map(async (token) => ({ token, ...(await rest(app.url, '/v1/toys', { token })) }));
    const refused = (await Promise.all(sent)).filter(({ status }) => status === 503);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.filter(({ token }) => digests.has(digestOf(token)))).toEqual([]);
    const { token } = await app.tenant({ plan: 'BUSINESS' });
    await eventually('known', async () => (await rest(app.url, '/v1/rate_limit', { token })).status === 200);
  });

  test('Overload-20: health and the quota answer meanwhile, and the metrics count refusals by plan', async () => {
    expect((await rest(app.url, '/healthz')).status).toBe(200);
    expect((await rest(app.url, '/readyz')).status).toBe(200);
    expect((await rest(app.url, '/v1/rate_limit', { token: flooding.token })).status).toBe(200);
    const { text } = await rest(metricsUrl, '/metrics');
    const [, refused] = /petstore_requests_shed_total\{plan="ENTERPRISE"\} (\d+)/.exec(text) ?? [];
    expect(Number(refused)).toBeGreaterThan(100);
  });

  test('Overload-21: refused requests have one line of the log together, at most each second', async () => {
    const summaries = lines.filter((line) => line.includes(SUMMARY));
    const { shed, limit } = JSON.parse(String(summaries[0]));
    expect(shed.ENTERPRISE).toBeGreaterThan(0);
    expect(limit).toBe(32);
    const times = summaries.map((line) => JSON.parse(line).time);
    for (const [at, time] of times.entries()) if (at > 0) expect(time - times[at - 1]).toBeGreaterThan(900);
  });

  test('Overload-22: two seconds after the flood nothing is refused any more', async () => {
    await locks.query('UNLOCK TABLES');
    await flood?.stop();
    flood = null;
    const ended = lines.length;
    await eventually(
      'calm',
      async () => lines.slice(ended).some((line) => line.includes('no longer overloaded')),
      3_000,
    );
    for (let at = 0; at < 20; at += 1) {
      expect((await rest(app.url, listOf(at * 2).path, { token: flooding.token })).status).toBe(200);
    }
  });
});

test('Overload-23: with OVERLOAD=off there is no limit', async () => {
  const other = await startApp({ env: { OVERLOAD: 'off' }, onLog: (line) => lines.push(line) });
  expect((await rest(other.url, '/v1/toys', { token: (await other.tenant()).token })).status).toBe(200);
  await other.stop();
});
