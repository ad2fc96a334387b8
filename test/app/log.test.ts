import { openSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { GraphQLError } from 'graphql';
import { QueryFailedError } from 'typeorm';
import { logFaults } from '../../src/doors/graphql/execution/errors.js';
import { LogLines } from '../../src/ground/log/log-lines.js';
import { createLogger } from '../../src/ground/log/logger.js';
import { eventually } from '../support/eventually.js';
import { startGateway } from '../support/gateway-process.js';
import { graphql, rest } from '../support/http/client.js';
import { startApp, type Tenant, type TestApp } from '../support/start-app.js';

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
    await rest(app.url, '/v1/toys?limit=1', { token: tenant.token }),
    await rest(app.url, '/v1/toys'),
    await rest(app.url, '/nowhere'),
    await rest(app.url, '/v1/toys', { method: 'POST', token: tenant.token, body: '{' }),
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
  await rest(app.url, '/v1/toys?status=secret%0aquery', {
    token: tenant.token,
    headers: { 'x-forwarded-for': 'secret' },
  });
  await rest(app.url, '/v1/toys', { method: 'POST', token: tenant.token, body: '{"name":"secret body"' });
  await rest(app.url, '/v1/toys', { token: `${tenant.token.slice(0, -1)}_` });
  await graphql(app.url, 'query { toy(id: "secret") { id } }', { token: tenant.token });
  await rest(app.url, '/line%0abreak', { token: tenant.token });
  const log = lines.join('');
  expect(log).not.toContain('secret');
  expect(log).not.toContain(tenant.token.slice(3, 30));
  for (const line of lines) expect(line.trimEnd()).not.toMatch(/\n/);
});

test('Log-4: no token in a path reaches the log, whether whole, cut, damaged or percent-encoded', async () => {
  const { token } = tenant;
  const encoded = [...token].map((character) => `%${character.charCodeAt(0).toString(16)}`).join('');
  const forms = [
    token,
    token.slice(0, 25),
    `${token}0`,
    token.replace('_', '%5F'),
    encoded,
    encoded.toUpperCase(),
    encoded.replaceAll('%5f', '_'),
  ];
  const before = lines.length;
  for (const form of forms) {
    await rest(app.url, `/v1/toys/${form}`, { token });
    await rest(app.url, `/${form}/x?key=${form}`);
    await rest(app.url, `/%zz/${form}`);
    await graphql(app.url, `{ toy(id: "${form}") { id } ${form.slice(0, 3)}`, { token });
  }
  const log = lines.slice(before).join('');
  expect(lines.length - before).toBe(forms.length * 4);
  expect(log.match(/pk_\[redacted\]/g)?.length).toBe(forms.length * 3);
  expect(log).not.toContain(token.slice(8, 20));
  expect(log.toLowerCase()).not.toContain(encoded.slice(24, 60));
});

test('Log-5: a request writes one line of bounded length, however long its path', async () => {
  const before = lines.length;
  for (const part of ['x', '%41%2f', '%22%0a']) {
    await rest(app.url, `/${part.repeat(15_000 / part.length)}`);
  }
  const written = lines.slice(before);
  expect(written).toHaveLength(3);
  for (const line of written) expect(Buffer.byteLength(line)).toBeLessThan(8_192);
  for (const line of written) expect(JSON.parse(line)).toMatchObject({ msg: 'request', status: 404 });
});

test('Log-6: a fault is logged without the values of its statement, in a line of bounded length', () => {
  const written: string[] = [];
  const logger = createLogger({ level: 'info', format: 'json' }, { write: (line) => written.push(line) });
  const cause = Object.assign(new Error('x'.repeat(50_000)), { code: 'ER_BAD', sql: "VALUES ('secret')" });
  const query = `SELECT ${'y'.repeat(50_000)}`;
  const fault = new QueryFailedError(query, ['secret'], cause);
  logger.error({ err: Object.assign(fault, { cause }) }, 'request failed');
  logger.warn({ reason: `${'z'.repeat(100_000)}` }, 'unavailable');
  expect(written.map((line) => line.length < 12_000)).toEqual([true, true]);
  const { err } = JSON.parse(written[0] ?? '');
  expect(err).toMatchObject({ type: 'QueryFailedError', cause: { code: 'ER_BAD' } });
  expect(err.stack).toMatch(/^(QueryFailed)?Error: x{100}/);
  expect(written.join('')).not.toContain('secret');
});

describe('LOG_FORMAT=text', () => {
  const written: string[] = [];
  const logger = createLogger({ level: 'info', format: 'text' }, { write: (line) => written.push(line) });

  test('Log-7: a request is one short line', () => {
    const request = {
      method: 'GET',
      path: '/v1/toys',
      status: 200,
      durationMs: 1.2,
      keyId: '42',
      minuteLeft: 299,
    };
    logger.info({ requestId: 'f00', projectId: '7', ...request }, 'request');
    logger.info({ requestId: 'f00', ...request, status: 503, keyId: undefined }, 'request');
    logger.warn({ reason: 'nothing listens there' }, 'Redis is away');
    expect(written.splice(0).map((line) => line.replace(/^\d\d:\d\d:\d\d /, ''))).toEqual([
      'GET /v1/toys 200 1.2 ms key 42 left 299\n',
      'GET /v1/toys 503 1.2 ms left 299 request f00\n',
      'WARN Redis is away reason=nothing listens there\n',
    ]);
  });

  test('Log-8: no client can control the terminal or forge a line', () => {
    const evil = 'a\n14:02:11 GET /fake 200\r\x1b[2J\x9b31m\u202e\u2028b';
    logger.info({ method: 'GET', path: evil, status: 404, durationMs: 1 }, 'request');
    logger.warn({ [evil]: evil, nested: { evil } }, evil);
    logger.error({ err: new Error(evil) }, 'request failed');
    const [request = '', warning = '', fault = ''] = written.splice(0);
    for (const line of [request, warning]) expect(line.match(/\n/g)).toHaveLength(1);
    for (const line of fault.trimEnd().split('\n').slice(1)) expect(line).toMatch(/^ {4}/);
    const all = request + warning + fault;
    expect(all.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u2028\u202e]/u);
    expect(request).toContain('a\\u000a14:02:11 GET /fake 200\\u000d\\u001b[2J\\u009b31m');
  });

  test('Log-9: the process writes the format of LOG_FORMAT, and JSON when its output is not a terminal', async () => {
    for (const [env, form] of [
      [{ LOG_FORMAT: 'text' }, /^\d\d:\d\d:\d\d GET \/nowhere 404 [\d.]+ ms/m],
      [{}, /^\{"level":30,.*"path":"\/nowhere"/m],
    ] as const) {
      const gateway = await startGateway({
        env: { DATABASE_URL: 'sqlite::memory:', LOG_LEVEL: 'info', ...env },
      });
      await fetch(`${gateway.url}/nowhere`);
      await eventually('the line', async () => form.test(gateway.output()));
      await gateway.kill('SIGKILL');
    }
  });
});

test('Log-10: lines that cannot be written are buffered up to 16 MB, then dropped', async () => {
  const full = openSync('/dev/full', 'w');
  const log = new LogLines(full);
  const line = `${'x'.repeat(2_000)}\n`;
  const before = process.memoryUsage().arrayBuffers;
  for (let at = 0; at < 40_000; at += 1) log.write(line);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20 * 1024 * 1024);
  const kept = 40_000 - log.lostLines;
  expect(Math.abs(kept - (16 * 1024 * 1024) / line.length)).toBeLessThan(100);
  // The descriptor stays open: the log retries until the process ends, and would write to the next socket of this number.
});

test('Log-3: an internal fault is logged with its cause and answered without it', async () => {
  await app.db.close();
  const broken = await rest(app.url, '/v1/toys', { token: tenant.token });
  expect([broken.status >= 500, broken.text]).toEqual([
    true,
    expect.not.stringMatching(/sqlite|typeorm|connection/i),
  ]);
  const id = broken.headers.get('x-request-id');
  const entries = lines.map((line) => JSON.parse(line)).filter(({ requestId }) => requestId === id);
  expect(entries.length).toBe(2);
});

test('Log-11: an operation in which every field fails logs at most three faults', async () => {
  const written: unknown[] = [];
  const log = { error: (line: unknown) => written.push(line), warn: (line: unknown) => written.push(line) };
  const errors = Array.from({ length: 100 }, () => new GraphQLError('x', { originalError: new Error('y') }));
  logFaults(errors, { log } as never);
  expect(written).toHaveLength(3);
});
