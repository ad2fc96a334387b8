import { afterEach, expect, test } from '@jest/globals';
import { ApiError, Gone, WaitTooLong } from '../../client/client.js';
import { type ScriptedServer, scriptedServer } from '../support/client/scripted-server.js';
import { SimulatedTime } from '../support/client/simulated-time.js';
import { toysClient } from '../support/client/toys-client.js';

const TOY = { id: 1n, name: 'Rex', categoryId: 2n };
const CREATED = { status: 201, body: '{"id":1,"name":"Rex","categoryId":2}' };
const PAGE = { status: 200, body: '[]' };
const NEW = { name: 'Rex', categoryId: 2n };

const refusal = (status: number, code: string, headers: Record<string, string> = {}) => ({
  status,
  headers: { 'x-request-id': 'request-1', ...headers },
  body: JSON.stringify({ code, message: 'No.', status }),
});

let server: ScriptedServer;
afterEach(() => server.stop());

async function against(...steps: Parameters<typeof scriptedServer>[0]) {
  server = await scriptedServer(steps);
  const clock = { now: Date.UTC(2026, 10, 28) };
  const time = new SimulatedTime(clock);
  const startMs = clock.now;
  const api = toysClient(server.url, 'key', { clock: time, fetch: time.fetch });
  const failed = (work: Promise<unknown>) =>
    time.run(
      work.then(
        () => 'no error',
        (error) => error,
      ),
    );
  return { api, time, failed, waitedSeconds: () => (clock.now - startMs) / 1000 };
}

test('Client-8: a write is repeated with the same key and body after a cut, 502, 503, 504, 429, and 409 with Retry-After', async () => {
  const { api, time, waitedSeconds } = await against(
    'cut',
    refusal(503, 'unavailable', { 'retry-after': '2' }),
    refusal(409, 'conflict', { 'retry-after': '1' }),
    refusal(429, 'rate_limited_minute', { 'retry-after': '7' }),
    { status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>Bad Gateway</h1>' },
    refusal(504, 'proxy'),
    CREATED,
  );
  expect(await time.run(api.toys.create(NEW))).toEqual(TOY);
  const keys = server.requests.map(({ headers }) => headers['idempotency-key']);
  expect(keys).toHaveLength(7);
  expect(new Set(keys).size).toBe(1);
  expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
  expect(new Set(server.requests.map(({ body }) => body))).toEqual(
    new Set(['{"name":"Rex","categoryId":2}']),
  );
  expect(waitedSeconds()).toBeGreaterThanOrEqual(10);
  await time.run(api.toys.create(NEW));
  expect(server.requests.at(-1)?.headers['idempotency-key']).not.toBe(keys[0]);
  await time.run(api.toys.create(NEW, { idempotencyKey: 'order-7' }));
  expect(server.requests.at(-1)?.headers['idempotency-key']).toBe('order-7');
  await time.run(api.toys.list().catch(() => {}));
  expect(server.requests.at(-1)?.headers).not.toHaveProperty('idempotency-key');
});

test.each([
  [400, 'invalid_request'],
  [401, 'unauthorized'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [409, 'conflict'],
  [422, 'idempotency_mismatch'],
])('Client-9: %d is an ApiError at once, and is not repeated', async (status, code) => {
  const { api, failed } = await against(refusal(status, code));
  const error = await failed(api.toys.create(NEW));
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({
    name: 'ApiError',
    status,
    code,
    message: 'No.',
    errors: [],
    requestId: 'request-1',
  });
  expect(server.requests).toHaveLength(1);
});

test('Client-10: 500 is repeated three times with growing pauses; a connection that fails, until the bound', async () => {
  const fault = await against(refusal(500, 'internal'));
  expect(await fault.failed(fault.api.toys.list())).toMatchObject({ code: 'internal', status: 500 });
  expect(server.requests).toHaveLength(4);
  expect(fault.waitedSeconds()).toBeLessThan(3);
  await server.stop();
  const cut = await against('cut');
  const error = await cut.failed(cut.api.toys.create(NEW));
  expect(error).toMatchObject({ code: 'no_answer', status: 0 });
  expect(String(error)).toContain(`No answer from ${server.url}/v1: fetch failed (`);
  expect(cut.waitedSeconds()).toBeLessThanOrEqual(60);
  expect(cut.waitedSeconds()).toBeGreaterThan(50);
  expect(server.requests.length).toBeGreaterThanOrEqual(10);
  expect(server.requests.length).toBeLessThanOrEqual(20);
});

test('Client-11: a wait beyond the bound fails at once and says until when, and other calls wait or fail without being sent', async () => {
  const { api, time, failed, waitedSeconds } = await against(
    refusal(429, 'key_banned', { 'retry-after': '300' }),
    PAGE,
  );
  const until = new Date(time.now() + 300_000);
  const expected = { name: 'WaitTooLong', code: 'key_banned', status: 429, until, retryAfterSeconds: 300 };
  for (const error of [await failed(api.toys.list()), await failed(api.toys.create(NEW))]) {
    expect(error).toBeInstanceOf(WaitTooLong);
    expect(error).toMatchObject(expected);
    expect(String(error)).toContain(`Wait until ${until.toISOString()}.`);
  }
  expect([server.requests.length, waitedSeconds()]).toEqual([1, 0]);
  expect(await time.run(api.toys.list({}, { waitAtMostSeconds: 300 }))).toEqual([]);
  expect(waitedSeconds()).toBe(300);
  await server.stop();
  const busy = await against(refusal(503, 'unavailable', { 'retry-after': '61' }));
  expect(await busy.failed(busy.api.toys.list())).toMatchObject({ name: 'WaitTooLong', code: 'unavailable' });
});

test('Client-21: a server that refuses for ever, and says Retry-After 0, gets no more than a request each second until the bound', async () => {
  for (const [status, code] of [
    [429, 'rate_limited_minute'],
    [503, 'unavailable'],
  ] as const) {
    const { api, failed, waitedSeconds } = await against(refusal(status, code, { 'retry-after': '0' }));
    expect(await failed(api.toys.list())).toMatchObject({ name: 'WaitTooLong', code });
    expect(server.requests.length).toBeLessThanOrEqual(61);
    expect(waitedSeconds()).toBeLessThanOrEqual(60);
    if (status === 429) await server.stop();
  }
});

test('Client-12: an answer that is not of the API is a clear error: a page of HTML, a redirect, a page that never ends', async () => {
  const { api, failed } = await against({
    status: 200,
    headers: { 'content-type': 'text/html' },
    body: '<h1>Hi</h1>',
  });
  const html = await failed(api.toys.list());
  expect(html).toMatchObject({ code: 'bad_answer', status: 200 });
  expect(String(html)).toContain(`${server.url}/v1/toys answered 200 (text/html), `);
  expect(String(html)).toContain('"<h1>Hi</h1>"');
  await server.stop();
  const moved = await against({ status: 301, headers: { location: 'https://shop.example.com/v1/toys' } });
  const redirected = await moved.failed(moved.api.toys.create(NEW));
  expect(redirected).toMatchObject({ code: 'redirected', status: 301 });
  expect(String(redirected)).toContain('redirects to https://shop.example.com/v1/toys: set baseUrl');
  expect(server.requests).toHaveLength(1);
  await server.stop();
  const long = await against({ status: 200, body: `["${'x'.repeat(17 * 1024 * 1024)}"]` });
  const endless = await long.failed(toysClient(server.url, 'key').toys.list());
  expect(endless).toMatchObject({ code: 'bad_answer', status: 200 });
  expect(String(endless)).toContain('more than 16777216 characters');
});

test('Client-13: a signal ends a call while it is sent, while it waits and before it begins; a silent server ends an attempt', async () => {
  const { api, time, failed } = await against('silent');
  const reason = new Error('the user left');
  const aborted = (afterMs: number, options: Partial<Parameters<typeof toysClient>[2]> = {}) => {
    const controller = new AbortController();
    const call = toysClient(server.url, `key ${afterMs}`, { clock: time, ...options }).toys.list(
      {},
      { signal: controller.signal },
    );
    if (afterMs === 0) controller.abort(reason);
    else setTimeout(() => controller.abort(reason), afterMs);
    return call;
  };
  await expect(aborted(0)).rejects.toBe(reason);
  await expect(aborted(50)).rejects.toBe(reason);
  await server.stop();
  const limited = await against(refusal(429, 'rate_limited_minute', { 'retry-after': '60' }));
  const controller = new AbortController();
  const waiting = limited.api.toys.list({}, { signal: controller.signal });
  limited.time.after(10_000, () => controller.abort(reason));
  expect(await limited.failed(waiting)).toBe(reason);
  expect([server.requests.length, limited.waitedSeconds()]).toEqual([1, 10]);
  await server.stop();
  server = await scriptedServer(['silent', PAGE]);
  const quick = toysClient(server.url, 'key', { timeoutSeconds: 0.05 });
  expect(await quick.toys.list()).toEqual([]);
  expect(server.requests).toHaveLength(2);
  expect(await failed(api.toys.list({}, { signal: AbortSignal.abort(reason) }))).toBe(reason);
});

test('Client-14: pages are followed by the query of their link, and the key never leaves the base address', async () => {
  const page = (id: number, link: string) => ({
    status: 200,
    headers: { link },
    body: `[{"id":${id},"name":"Rex","categoryId":2}]`,
  });
  const { api, time } = await against(
    page(
      1,
      '<https://elsewhere.example/v1/toys?limit=100>; rel="first", <https://elsewhere.example/v1/toys?limit=100&cursor=a%2Cb>; rel="next"',
    ),
    page(2, '<https://elsewhere.example/v1/toys?limit=100>; rel="first"'),
  );
  const ids: bigint[] = [];
  const read = async () => {
    for await (const { id } of api.toys.all({ status: 'sold' })) ids.push(id);
  };
  await time.run(read());
  expect(ids).toEqual([1n, 2n]);
  expect(server.requests.map(({ path }) => path)).toEqual([
    '/v1/toys?limit=100&status=sold',
    '/v1/toys?limit=100&cursor=a%2Cb',
  ]);
});

test('Client-15: changes are looked for every ten seconds while there are none, continue behind a page without changes, and end with Gone', async () => {
  const link = (cursor: string) => ({
    link: `<http://localhost/v1/toys/changes?limit=100&cursor=${cursor}>; rel="next"`,
  });
  const change = `{"cursor":"c2","kind":"created","at":"2026-11-28T00:00:00.000Z","toy":${CREATED.body}}`;
  const { api, time, failed, waitedSeconds } = await against(
    { status: 200, headers: link('c1'), body: '[]' },
    { status: 200, headers: link('c2'), body: `[${change}]` },
    refusal(410, 'gone'),
  );
  const changes = api.toys.changes({ after: 'c0' });
  const seen: unknown[] = [];
  const read = async () => {
    for await (const { toy } of changes) seen.push(toy);
  };
  const error = await failed(read());
  expect(error).toBeInstanceOf(Gone);
  expect(error).toMatchObject({ name: 'Gone', code: 'gone', status: 410 });
  expect([seen, changes.cursor, waitedSeconds()]).toEqual([[TOY], 'c2', 20]);
  expect(server.requests.map(({ path }) => path)).toEqual(
    ['c0', 'c1', 'c2'].map((cursor) => `/v1/toys/changes?limit=100&cursor=${cursor}`),
  );
  expect(time.now()).toBeGreaterThan(0);
});
