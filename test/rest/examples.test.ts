import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { type AppError, ERRORS, type ErrorCode } from '../../src/ground/kernel/errors.js';
import { errorBody, toAppError } from '../../src/request/http/error-reply.js';
import { IdempotencyKey } from '../../src/tenants/idempotency/idempotency-key.entity.js';
import { plain } from '../support/domains/served-domain.js';
import { rest } from '../support/http/client.js';
import { startApp, TEST_ACTOR, type Tenant, type TestApp } from '../support/start-app.js';

interface Media {
  examples: Record<string, { summary: string; value: unknown }>;
}
type Header = { $ref?: string; schema?: { examples?: unknown[] } };
interface Operation {
  operationId: string;
  requestBody?: { content: { 'application/json': Media } };
  responses: Record<
    string,
    { headers?: Record<string, Header>; content?: { 'application/json': Partial<Media> } }
  >;
}

// 42 s before the end of a UTC minute, and 30,222 s before the end of a UTC day.
const NOW = Date.UTC(2026, 0, 6, 15, 36, 18);
const TOO_LARGE = { name: 'x'.repeat(110_000), categoryId: 3 };

let app: TestApp;
let owner: Tenant;
let operations: Operation[];
beforeAll(async () => {
  app = await startApp({ env: { PETSTORE_ENV: 'staging' }, now: NOW });
  owner = await app.tenant();
  const { paths } = (await rest(app.url, '/v1/openapi.json')).body;
  operations = Object.values<Record<string, Operation>>(paths).flatMap((methods) => Object.values(methods));
});
afterAll(() => app.stop());

const REQUESTS: Record<string, { path: string; method?: string; body?: unknown }> = {
  listToys: { path: '/v1/toys' },
  createToy: { path: '/v1/toys', method: 'POST', body: { name: 'Rex', categoryId: 3 } },
  getToy: { path: '/v1/toys/4711' },
  getRateLimit: { path: '/v1/rate_limit' },
  getOpenApi: { path: '/v1/openapi.json' },
  getPostman: { path: '/v1/postman.json' },
};

/** Their limit is the one of all paths that need no key. */
const FILES = ['getOpenApi', 'getPostman'];

const examplesOf = ({ responses }: Operation) =>
  Object.values(responses).flatMap(({ content }) =>
    Object.entries(content?.['application/json'].examples ?? {}).map(([name, { value }]) => ({
      name,
      value,
    })),
  );

/** Sends the request of an operation, changed so that the gateway answers with the code. */
async function provoke(operationId: string, code: ErrorCode): Promise<unknown> {
  const { path, ...init } = REQUESTS[operationId] ?? { path: '/' };
  const asOwner = { ...init, token: owner.token };
  const send = async (to: string, how: Parameters<typeof rest>[2]) => (await rest(app.url, to, how)).body;
  const rehearse = async (header: string) => {
    const { projectId } = owner;
    const wanted = { projectId, name: 'rehearsal', scopes: ['toys:read', 'toys:write'] as const };
    const made = await app.app.services.apiKeys.create(TEST_ACTOR, {
      ...wanted,
      expiresAtMs: null,
      rehearses: true,
    });
    return send(path, { ...init, token: made.token, headers: { 'petstore-rehearse': header } });
  };
  switch (code) {
    case 'invalid_request':
      if (operationId === 'listToys') return send(`${path}?limit=&status=`, asOwner);
      if (operationId === 'createToy') return send(path, { ...asOwner, body: {} });
      return JSON.parse((await plain(app, 'localhost', `${path}%`)).text);
    case 'unauthorized':
      return send(path, init);
    case 'forbidden': {
      const scopes = operationId === 'createToy' ? (['toys:read'] as const) : (['toys:write'] as const);
      return send(path, { ...init, token: (await app.tenant({ scopes })).token });
    }
    case 'not_acceptable':
      return send(path, { ...asOwner, headers: { accept: 'text/html' } });
    case 'misdirected':
      return JSON.parse((await plain(app, 'nobody.example.com', path)).text);
    case 'payload_too_large':
      return send(path, { ...asOwner, body: TOO_LARGE });
    case 'unsupported_media_type':
      return send(path, { ...asOwner, headers: { 'content-type': 'text/plain' } });
    case 'conflict': {
      const attempt = { ...asOwner, headers: { 'idempotency-key': 'running' } };
      await send(path, attempt);
      // The row of a request that is still running.
      const lockedUntilMs = app.clock.now + 10_000;
      await app.db
        .repository(IdempotencyKey)
        .update({ projectId: owner.projectId }, { result: null, lockedUntilMs });
      return send(path, attempt);
    }
    case 'idempotency_mismatch': {
      const headers = { 'idempotency-key': 'used' };
      await send(path, { ...asOwner, headers });
      return send(path, { ...asOwner, headers, body: { name: 'Luna', categoryId: 7 } });
    }
    case 'gone': {
      app.clock.now = Date.UTC(2030, 11, 5);
      const answer = await send(path, asOwner);
      app.clock.now = NOW;
      return answer;
    }
    case 'rate_limited_minute': {
      if (![...FILES, 'getRateLimit'].includes(operationId)) return rehearse('429 minute');
      const limited = await startApp({ now: NOW });
      const [perMinute, spent] = FILES.includes(operationId) ? [600, '/nothing'] : [60, path];
      await Promise.all(Array.from({ length: perMinute }, () => rest(limited.url, spent)));
      const { body } = await rest(limited.url, path);
      await limited.stop();
      return body;
    }
    case 'rate_limited_day':
      return rehearse('429 day');
    case 'key_banned':
      return rehearse('banned');
    case 'internal':
      return errorBody(toAppError(new Error('a bug')));
    case 'unavailable':
      return errorBody(
        toAppError(Object.assign(new Error('refused'), { code: 'ECONNREFUSED', fatal: true })),
      );
    default:
      return send(path, asOwner);
  }
}

test.each(Object.keys(REQUESTS))(
  'Examples-1: each error example of %s is what the gateway sends, to the character',
  async (operationId) => {
    const operation = operations.find((one) => one.operationId === operationId) as Operation;
    const errors = examplesOf(operation).filter(({ name }) => name in ERRORS);
    const statuses = Object.keys(operation.responses).filter((status) => Number(status) >= 400);
    expect(new Set(errors.map(({ value }) => String((value as AppError).status)))).toEqual(new Set(statuses));
    for (const { name, value } of errors) {
      expect([name, await provoke(operationId, name as ErrorCode)]).toEqual([name, value]);
    }
  },
);

test('Examples-2: each example of a request is accepted, and the gateway answers with the example beside it', async () => {
  const { token } = await app.tenant({ plan: 'FREE' });
  const create = operations.find(({ operationId }) => operationId === 'createToy') as Operation;
  const list = operations.find(({ operationId }) => operationId === 'listToys') as Operation;
  expect((await rest(app.url, '/v1/toys', { token })).body).toEqual(
    list.responses['200']?.content?.['application/json'].examples?.empty?.value,
  );
  const bodies = Object.values(create.requestBody?.content['application/json'].examples ?? {});
  const created = [];
  for (const { value } of bodies) {
    const { status, body } = await rest(app.url, '/v1/toys', { method: 'POST', token, body: value });
    expect([status, body]).toEqual([201, { id: expect.anything(), ...(value as object) }]);
    created.push(body);
  }
  const shown = (await rest(app.url, '/v1/toys', { token })).body;
  expect(shown).toEqual(created);
  const page = list.responses['200']?.content?.['application/json'].examples?.page?.value as { id: number }[];
  expect(page.map(({ id: _, ...toy }) => toy)).toEqual(bodies.map(({ value }) => value));
  expect(page.map((toy) => Object.keys(toy))).toEqual(shown.map(Object.keys));
  const toy = create.responses['201']?.content?.['application/json'].examples?.whole?.value;
  expect(toy).toEqual(page[0]);
});

test('Examples-3: the example of the remaining quota has the fields and the numbers of the plan FREE', async () => {
  const { token } = await app.tenant({ plan: 'FREE' });
  await rest(app.url, '/v1/toys', { token });
  const { body } = await rest(app.url, '/v1/rate_limit', { token });
  const operation = operations.find(({ operationId }) => operationId === 'getRateLimit') as Operation;
  const example = operation.responses['200']?.content?.['application/json'].examples?.standing?.value;
  const resetAtSeconds = expect.any(Number);
  expect(example).toMatchObject({
    ...body,
    minute: { ...body.minute, resetAtSeconds },
    day: { ...body.day, resetAtSeconds },
  });
});

test('Examples-4: each example of a body and of a header fits its schema, and every header has one', async () => {
  const { body: document } = await rest(app.url, '/v1/openapi.json');
  const ajv = new Ajv2020({ strict: false, formats: { int64: true, 'date-time': true } });
  ajv.addSchema({ $id: 'openapi', ...document });
  const unfit: unknown[] = [];
  const compare = (schema: { $ref?: string }, value: unknown) => {
    const validates = ajv.compile(schema.$ref ? { $ref: `openapi${schema.$ref}` } : schema);
    if (!validates(value)) unfit.push([value, validates.errors]);
  };
  let compared = 0;
  JSON.stringify(document, (_key, part) => {
    for (const value of part?.type && Array.isArray(part.examples) ? part.examples : []) {
      compare(part, value);
      compared += 1;
    }
    for (const { value } of part?.schema && part.examples
      ? Object.values<{ value: unknown }>(part.examples)
      : []) {
      compare(part.schema, value);
      compared += 1;
    }
    return part;
  });
  const lacking = operations.flatMap(({ operationId, responses }) =>
    Object.entries(responses).flatMap(([status, { headers = {} }]) =>
      Object.entries(headers)
        .filter(
          ([name, header]) =>
            !(header.$ref ? document.components.headers[name] : header).schema.examples?.length,
        )
        .map(([name]) => `${operationId} ${status} ${name}`),
    ),
  );
  expect({ unfit, lacking }).toEqual({ unfit: [], lacking: [] });
  expect(compared).toBeGreaterThan(100);
});

test.each(['listToys', 'getRateLimit', ...FILES])(
  'Examples-5: the headers of the 429 of %s are what the gateway sends beside the first example of its body',
  async (operationId) => {
    const { responses } = operations.find((one) => one.operationId === operationId) as Operation;
    const { headers = {}, content } = responses[429] as Operation['responses'][string];
    const { body: document } = await rest(app.url, '/v1/openapi.json');
    const limited = await startApp({ now: NOW });
    const { token } = await limited.tenant({ plan: 'FREE' });
    const how = operationId === 'listToys' ? { token } : {};
    const { path } = REQUESTS[operationId] as { path: string };
    const [quota, spent] = FILES.includes(operationId) ? [600, '/nothing'] : [60, path];
    await Promise.all(Array.from({ length: quota }, () => rest(limited.url, spent, how)));
    const refused = await rest(limited.url, path, how);
    await limited.stop();
    const { 'X-Request-Id': _, 'Petstore-Strikes': __, ...declared } = headers;
    const shown = Object.entries(declared).map(([name, header]) => {
      const { schema } = (header.$ref ? document.components.headers[name] : header) as Required<Header>;
      return [name, String(schema.examples?.[0])];
    });
    expect(shown.map(([name = '']) => [name, refused.headers.get(name)])).toEqual(shown);
    const [first] = Object.values(content?.['application/json'].examples ?? {});
    expect(refused.body).toEqual(first?.value);
  },
);
