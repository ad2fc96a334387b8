import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { CountedRequest } from '../../src/ground/kernel/answered-request.js';
import { RawClient } from '../support/attacks/raw-client.js';
import { eventually } from '../support/eventually.js';
import { graphql, rest } from '../support/http/client.js';
import { startApp, TEST_ACTOR, type Tenant, type TestApp } from '../support/start-app.js';

let app: TestApp;
let tenant: Tenant;
let token: string;
const recorded: CountedRequest[] = [];

beforeAll(async () => {
  app = await startApp();
  const { usage } = app.app.services;
  const count = usage.count.bind(usage);
  usage.count = (request) => {
    recorded.push(request);
    count(request);
  };
});
beforeEach(async () => {
  tenant = await app.tenant();
  token = tenant.token;
  recorded.length = 0;
});
afterAll(() => app.stop());

/** The facts of the recorded requests, in order. */
const facts = () =>
  recorded.map(({ door, operation, status, code, outcome, paidBy, units }) =>
    [door, operation, status, code, outcome, paidBy, units].join(' '),
  );
const post = (body: unknown) => rest(app.url, '/graphql', { method: 'POST', token, body });

test('Record-1: a REST request has its operation id, status, code and units; a path without operation is `other`', async () => {
  await rest(app.url, '/v1/toys?limit=1', { token });
  await rest(app.url, '/v1/toys', { method: 'HEAD', token });
  await rest(app.url, '/v1/toys?limit=0', { token });
  await rest(app.url, '/v1/toys', { method: 'POST', token, body: { name: 'Rex', categoryId: 1 } });
  await rest(app.url, '/v1/toys', { method: 'POST', token, body: '{' });
  await rest(app.url, '/v1/toys/1', { token });
  await rest(app.url, '/v1/nowhere', { token });
  await rest(app.url, '/v1/toys', { method: 'PUT', token });
  expect(facts()).toEqual([
    'rest listToys 200  ok plan 1',
    'rest listToys 200  ok plan 1',
    'rest listToys 400 invalid_request failed plan 1',
    'rest createToy 201  ok plan 1',
    'rest createToy 400 invalid_request failed plan 1',
    'rest getToy 404 not_found failed plan 1',
    'rest other 404 not_found failed plan 1',
    'rest other 405 method_not_allowed failed plan 1',
  ]);
  const [first] = recorded;
  expect(first).toMatchObject({ atMs: app.clock.now, projectId: tenant.projectId, keyId: tenant.keyId });
  expect(first?.durationMs).toBeGreaterThan(0);
});

test('Record-2: a GraphQL request has the name of its operation, otherwise its root fields in alphabetical order', async () => {
  await graphql(app.url, 'query Shelf { toys(first: 1) { nodes { id } } }', { token });
  await graphql(app.url, '{ b: project { slug } toys(first: 1) { nodes { id } } a: project { slug } }', {
    token,
  });
  await graphql(app.url, '{ __typename }', { token });
  await graphql(app.url, `query ${'n'.repeat(300)} { project { slug } }`, { token });
  // A token is a valid name.
  await graphql(app.url, `query ${token} { project { slug } }`, { token });
  await graphql(app.url, 'query __proto__ { project { slug } }', { token });
  expect(facts()).toEqual([
    'graphql Shelf 200  ok plan 1',
    'graphql project,toys 200  ok plan 1',
    'graphql __typename 200  ok plan 1',
    `graphql ${'n'.repeat(100)} 200  ok management 0`,
    'graphql other 200  ok management 0',
    'graphql __proto__ 200  ok management 0',
  ]);
});

test('Record-3: a request that is answered without Apollo has the same name', async () => {
  for (let sent = 0; sent < 6; sent += 1) {
    await graphql(app.url, 'query Again { toys(first: 1) { nodes { id } } }', { token });
    await graphql(app.url, '{ toys(first: 1) { nodes { id } } }', { token });
  }
  expect(new Set(facts())).toEqual(new Set(['graphql Again 200  ok plan 1', 'graphql toys 200  ok plan 1']));
  expect(recorded).toHaveLength(12);
});

test('Record-4: GraphQL errors make a request failed, also with status 200', async () => {
  await graphql(app.url, 'query Missing { toy(id: "1") { id } }', { token });
  await graphql(app.url, 'query Both { project { slug } revoke: toy(id: "1") { id } }', { token });
  await graphql(app.url, 'query Unknown { nothing }', { token });
  await graphql(app.url, 'query Variables($n: Int!) { toys(first: $n) { nodes { id } } }', { token });
  await graphql(app.url, 'query Large { toys(first: 100000) { nodes { id } } }', { token });
  await post({ query: '{', operationName: 'Broken' });
  await post({ query: '{' });
  await post({ query: 'query A { project { slug } }', operationName: 'B' });
  await post('{');
  await post([{ query: '{ project { slug } }' }]);
  await post({
    extensions: { persistedQuery: { version: 1, sha256Hash: '0'.repeat(64) } },
    operationName: 'Stored',
  });
  await rest(app.url, '/graphql?query={project{slug}}&operationName=Read', { token, method: 'PUT' });
  expect(facts()).toEqual([
    'graphql Missing 200 NOT_FOUND failed plan 1',
    'graphql Both 200 NOT_FOUND failed plan 1',
    'graphql Unknown 400 GRAPHQL_VALIDATION_FAILED failed plan 1',
    'graphql Variables 400 BAD_USER_INPUT failed plan 1',
    'graphql Large 200 INVALID_REQUEST failed plan 1',
    'graphql Broken 400 GRAPHQL_PARSE_FAILED failed plan 1',
    'graphql other 400 GRAPHQL_PARSE_FAILED failed plan 1',
    'graphql other 400 OPERATION_RESOLUTION_FAILURE failed plan 1',
    'graphql other 400 INVALID_REQUEST failed plan 1',
    'graphql other 400 INVALID_REQUEST failed plan 1',
    'graphql Stored 200 PERSISTED_QUERY_NOT_FOUND failed plan 1',
    'graphql Read 400 BAD_REQUEST failed plan 1',
  ]);
});

test('Record-5: a refused request spends no unit; requests without a key are not recorded', async () => {
  const quota = { plan: 'ENTERPRISE', perMinute: 1, perDay: 1_000 } as const;
  await app.app.services.projects.change(TEST_ACTOR, tenant.slug, quota);
  app.clock.now += 1_000;
  await rest(app.url, '/v1/toys', { token });
  await rest(app.url, '/v1/toys', { token });
  await graphql(app.url, 'query Shelf { toys(first: 1) { nodes { id } } }', { token });
  // The key is refused, so this document is not parsed.
  await post({ query: 'query Hidden { toys(first: 1) { nodes { name } } }', operationName: 'Given' });
  await post({ query: 'query Hidden { toys(first: 1) { nodes { name } } }' });
  await graphql(app.url, 'query Owner { project { slug } }', { token });
  await rest(app.url, '/v1/toys');
  await rest(app.url, '/v1/rate_limit', { token });
  expect(facts()).toEqual([
    'rest listToys 200  ok plan 1',
    'rest listToys 429 rate_limited_minute refused plan 0',
    'graphql Shelf 429 RATE_LIMITED_MINUTE refused plan 0',
    'graphql Given 429 RATE_LIMITED_MINUTE refused plan 0',
    'graphql other 429 RATE_LIMITED_MINUTE refused plan 0',
    'graphql Owner 200  ok management 0',
  ]);
});

test('Record-6: an operation is a name of GraphQL’s grammar or root fields of the schema, and never other text of a client', async () => {
  const words = 'secret';
  await graphql(app.url, `{ ${words} }`, { token });
  await graphql(
    app.url,
    `{ ${words} project { slug } ...F } fragment F on Query { toys { nodes { id } } ${words}2 }`,
    {
      token,
    },
  );
  await graphql(app.url, `mutation { ${words} }`, { token });
  await graphql(app.url, `query Named { ${words} }`, { token });
  await post({ query: 'query A { project { slug } } query B { project { slug } }', operationName: words });
  for (const operationName of [
    `${words} 2`,
    `${words}\n`,
    `\u0000${words}`,
    `${words}\u202e`,
    'ſecret',
    '{',
    7,
    ['A'],
    { A: 1 },
  ]) {
    await post({ query: '{', operationName });
  }
  await post({ query: '{', operationName: 'n'.repeat(50_000) });
  expect(recorded.map(({ operation }) => operation)).toEqual([
    'other',
    'project,toys',
    'other',
    'Named',
    ...Array(10).fill('other'),
    'n'.repeat(100),
  ]);
});

test('Record-7: a request whose client disconnects before the answer is recorded once, with the status 499', async () => {
  const client = await RawClient.open({ port: Number(new URL(app.url).port) });
  const head = `POST /v1/toys HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n`;
  client.send(`${head}Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{"name":`);
  const isCharged = async () => {
    const { body: json } = await rest(app.url, '/v1/rate_limit', { token });
    return json.minute.remaining < json.minute.limit;
  };
  await eventually('charged', isCharged);
  client.leave();
  await eventually('recorded', () => recorded.length > 0);
  await rest(app.url, '/v1/toys', { token });
  expect(facts()).toEqual([
    expect.stringMatching(/^rest createToy 499 .* failed plan 1$/),
    'rest listToys 200  ok plan 1',
  ]);
});
