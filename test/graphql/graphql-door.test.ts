import { createHash } from 'node:crypto';
import { ApolloClient, gql, InMemoryCache } from '@apollo/client';
import { BatchHttpLink } from '@apollo/client/link/batch-http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { graphql, rest } from '../support/http/client.js';
import { onAnyDatabase } from '../support/on-databases.js';
import { startApp, type Tenant, type TestApp } from '../support/start-app.js';

onAnyDatabase((app) => {
  let tenant: Tenant;
  beforeAll(async () => {
    tenant = await app().tenant();
  });
  const ask = (query: string, variables: Record<string, unknown> = {}, token = tenant.token) =>
    graphql(app().url, query, { token, variables });

  test("project-1: project is the caller's, and publishProject records the deploy and its author", async () => {
    const before = await ask('{ project { slug plan publishedAt url } }');
    expect(before.body.data.project).toEqual({
      slug: tenant.slug,
      plan: 'ENTERPRISE',
      publishedAt: null,
      url: expect.stringContaining(`://${tenant.slug}.petstore.localhost`),
    });
    const published = await ask('mutation { publishProject { publishedAt } }');
    expect(published.body.data.publishProject.publishedAt).toBe(new Date(app().clock.now).toISOString());
    const { AuditEvent } = await import('../../src/tenants/audit/audit-event.entity.js');
    const [event] = await app()
      .db.repository(AuditEvent)
      .find({
        where: { projectId: tenant.projectId, action: 'project.publish' },
      });
    expect(event).toMatchObject({
      actor: `key:${tenant.keyId}`,
      requestId: published.headers.get('x-request-id'),
      subject: tenant.slug,
    });
  });

  test('project-2: publishProject needs the scope domains', async () => {
    const { token } = await app().tenant({ scopes: ['toys:read', 'toys:write'] });
    const { body } = await ask('mutation { publishProject { slug } }', {}, token);
    expect(body.errors[0].extensions).toEqual({ code: 'FORBIDDEN', status: 403 });
  });
});

describe('the GraphQL door', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.stop());

  test('Sandbox-1: a browser gets the page without a key, with polling off and the demo query filled in', async () => {
    const page = await rest(app.url, '/graphql', {
      headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' },
    });
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.text).toMatch(/"pollForSchemaUpdates":false/);
    expect(page.text).toContain('query FirstToys');
  });

  test.each([
    'application/json;charset=utf-8, text/html;q=0.9',
    'text/html, application/json;charset=utf-8',
    'application/graphql-response+json;charset=utf-8,text/html;q=0.5',
    'text/*',
    '*/*',
  ])('Sandbox-3: Accept: %s gives a page to all, or the operation to keys', async (accept) => {
    const { token } = await app.tenant();
    const path = `/graphql?query=${encodeURIComponent('{ project { slug } }')}`;
    const headers = { accept, 'apollo-require-preflight': '1' };
    const answer = await rest(app.url, path, { token, headers });
    expect(answer.status).toBe(200);
    const anonymous = await rest(app.url, path, { headers });
    expect(anonymous.status).toBe(
      answer.headers.get('content-type') === 'text/html; charset=utf-8' ? 200 : 401,
    );
  });

  test('Errors-2: requests that Apollo refuses as HTTP get our code and the same status', async () => {
    const { token } = await app.tenant();
    const headers = { 'apollo-require-preflight': '1' };
    const mutation = await rest(app.url, '/graphql?query=mutation{publishProject{slug}}', { token, headers });
    expect([mutation.status, mutation.body.errors[0].extensions]).toEqual([
      405,
      { code: 'METHOD_NOT_ALLOWED', status: 405 },
    ]);
    const picture = await graphql(app.url, '{ __typename }', { token, headers: { accept: 'image/png' } });
    expect([picture.status, picture.body.errors[0].extensions]).toEqual([
      406,
      { code: 'NOT_ACCEPTABLE', status: 406 },
    ]);
    const nowhere = await rest(app.url, '/graphql/nope', { token });
    expect([nowhere.status, nowhere.body.errors[0].extensions.code]).toEqual([404, 'NOT_FOUND']);
  });

  test.each([
    'operationName=',
    'operationName=&variables=&extensions=',
    'variables=&variables=',
    'extensions=&operationName=Both&variables={}',
  ])('Parameters-1: of a GET with %s the empty ones count as omitted', async (others) => {
    const { token } = await app.tenant();
    const query = encodeURIComponent('query Both { project { slug } }');
    const headers = { 'apollo-require-preflight': '1' };
    for (const path of [`/graphql?query=${query}&${others}`, `/graphql?${others}&query=${query}`]) {
      const { status, body } = await rest(app.url, path, { token, headers });
      expect([path, status, body.errors]).toEqual([path, 200, undefined]);
    }
  });

  test('Parameters-3: a repeated parameter is refused, also beside an empty one', async () => {
    const { token } = await app.tenant();
    const path = `/graphql?query={__typename}&variables=&variables=${encodeURIComponent('{"a":1}')}`;
    const { status } = await rest(app.url, path, { token, headers: { 'apollo-require-preflight': '1' } });
    expect(status).toBe(400);
  });

  test('Parameters-2: an empty operationName of a POST counts as omitted, also of a known operation', async () => {
    const { token } = await app.tenant();
    const body = { query: '{ toys { nodes { id } } }', operationName: '' };
    for (let time = 1; time <= 3; time += 1) {
      const answer = await rest(app.url, '/graphql', { method: 'POST', token, body });
      expect([answer.status, answer.body]).toEqual([200, { data: { toys: { nodes: [] } } }]);
    }
    const two = { query: 'query A { project { slug } } query B { project { slug } }', operationName: '' };
    const unclear = await rest(app.url, '/graphql', { method: 'POST', token, body: two });
    expect([unclear.status, unclear.body.errors[0].extensions.code]).toEqual([
      400,
      'OPERATION_RESOLUTION_FAILURE',
    ]);
  });

  test('Sandbox-2: introspection works with a key and not without', async () => {
    const { getIntrospectionQuery } = await import('graphql');
    const { token } = await app.tenant();
    const schema = await graphql(app.url, getIntrospectionQuery(), { token });
    expect(schema.body.data.__schema.queryType.name).toBe('Query');
    expect((await graphql(app.url, getIntrospectionQuery())).status).toBe(401);
  });

  test('CSRF-1: a request that a foreign page could send without preflight is refused', async () => {
    const { token } = await app.tenant();
    const simple = await rest(app.url, '/graphql?query={__typename}', { token });
    expect([simple.status, simple.body.errors[0].extensions.status]).toEqual([400, 400]);
    const form = await rest(app.url, '/graphql', {
      method: 'POST',
      token,
      body: '{"query":"{__typename}"}',
      headers: { 'content-type': 'text/plain' },
    });
    expect(form.status).toBe(415);
    const meant = await rest(app.url, '/graphql?query={__typename}', {
      token,
      headers: { 'apollo-require-preflight': '1' },
    });
    expect(meant.body).toEqual({ data: { __typename: 'Query' } });
  });

  describe('Persisted-1: malformed parameters of a persisted query are refused with 400 and our code', () => {
    const query = '{ __typename }';
    const hash = createHash('sha256').update(query).digest('hex');
    test.each([
      ['no object', 1, {}],
      ['a hash that is no text', { version: 1, sha256Hash: { toString: 1 } }, { query }],
      ['a hash that is no text, alone', { version: 1, sha256Hash: { toString: 1 } }, {}],
      ['a hash that is no hash', { version: 1, sha256Hash: 'abc' }, {}],
      ['no hash', { version: 1 }, { query }],
      ['an unknown version', { version: 2, sha256Hash: hash }, { query }],
      ['a version that is text', { version: '1', sha256Hash: hash }, {}],
      ['the hash of another query', { version: 1, sha256Hash: '0'.repeat(64) }, { query }],
    ])('%s', async (_, persistedQuery, given) => {
      const { token } = await app.tenant();
      const extensions = { persistedQuery };
      const post = await rest(app.url, '/graphql', { method: 'POST', token, body: { ...given, extensions } });
      const search = new URLSearchParams({ ...given, extensions: JSON.stringify(extensions) });
      const headers = { 'apollo-require-preflight': '1' };
      const get = await rest(app.url, `/graphql?${search}`, { token, headers });
      for (const { status, body } of [post, get]) {
        expect([status, body.errors.length]).toEqual([400, 1]);
        expect(body.errors[0].extensions).toMatchObject({ code: 'INVALID_REQUEST', status: 400 });
        expect(body.errors[0].extensions.errors[0].field).toMatch(/^extensions\.persistedQuery/);
      }
    });
  });

  test('Persisted-2: a registered query is found by its hash; an invalid query is not registered', async () => {
    const { token } = await app.tenant();
    const ask = (query: string | undefined, of: string) =>
      rest(app.url, '/graphql', {
        method: 'POST',
        token,
        body: {
          query,
          extensions: {
            persistedQuery: { version: 1, sha256Hash: createHash('sha256').update(of).digest('hex') },
          },
        },
      });
    const [valid, invalid] = ['{ registered: __typename }', '{ registered: nope }'];
    expect((await ask(undefined, valid)).body.errors[0].extensions.code).toBe('PERSISTED_QUERY_NOT_FOUND');
    expect((await ask(valid, valid)).status).toBe(200);
    expect((await ask(undefined, valid)).body).toEqual({ data: { registered: 'Query' } });
    expect((await ask(invalid, invalid)).status).toBe(400);
    expect((await ask(undefined, invalid)).body.errors[0].extensions.code).toBe('PERSISTED_QUERY_NOT_FOUND');
  });

  test('Batching-1: an array of operations is refused with the reason once for each of up to 100, and costs one unit', async () => {
    const { token } = await app.tenant({ plan: 'FREE' });
    const send = (operations: number) =>
      rest(app.url, '/graphql', {
        method: 'POST',
        token,
        body: Array.from({ length: operations }, () => ({ query: '{__typename}' })),
      });
    const message = 'body must be one operation: send each in a request of its own';
    const errors = [
      { message, extensions: expect.objectContaining({ code: 'INVALID_REQUEST', status: 400 }) },
    ];
    for (const operations of [1, 2, 100]) {
      const { status, body } = await send(operations);
      expect([status, body]).toEqual([400, Array.from({ length: operations }, () => ({ errors }))]);
    }
    for (const operations of [0, 101, 1_000]) {
      expect([operations, (await send(operations)).body]).toEqual([operations, { errors }]);
    }
    expect((await send(2)).headers.get('x-ratelimit-remaining')).toBe('53');
  });

  test("Batching-2: Apollo's BatchHttpLink shows each operation the reason", async () => {
    const { token } = await app.tenant();
    const headers = { authorization: `Bearer ${token}` };
    const link = new BatchHttpLink({ uri: `${app.url}/graphql`, headers });
    const client = new ApolloClient({ cache: new InMemoryCache(), link });
    const asked = ['{ toys { nodes { id } } }', '{ project { slug } }'].map((query) =>
      client.query({ query: gql(query) }),
    );
    const reason = new Error('body must be one operation: send each in a request of its own');
    for (const settled of await Promise.allSettled(asked)) {
      expect(settled).toMatchObject({ status: 'rejected', reason });
    }
    client.stop();
  });

  test('Batching-3: a batch of a caller whose quota is spent is not parsed', async () => {
    const { token } = await app.tenant({ plan: 'FREE' });
    for (let sent = 0; sent < 61; sent += 1) await graphql(app.url, '{ toys { nodes { id } } }', { token });
    const { status, body } = await rest(app.url, '/graphql', { method: 'POST', token, body: [{}, '{'] });
    expect([status, body.errors[0].extensions.code]).toEqual([429, 'RATE_LIMITED_MINUTE']);
  });

  test('Errors-3: a caller with a valid key, who may read the schema, gets suggestions for a misspelled name', async () => {
    const { token } = await app.tenant();
    const typo = await graphql(app.url, '{ toys { nodes { nam } } project { slugg } }', { token });
    expect([typo.status, typo.body.errors]).toEqual([
      400,
      [
        {
          message: 'Cannot query field "nam" on type "Toy". Did you mean "name"?',
          locations: [{ line: 1, column: 18 }],
          extensions: { code: 'GRAPHQL_VALIDATION_FAILED', status: 400 },
        },
        {
          message: 'Cannot query field "slugg" on type "Project". Did you mean "slug"?',
          locations: [{ line: 1, column: 36 }],
          extensions: { code: 'GRAPHQL_VALIDATION_FAILED', status: 400 },
        },
      ],
    ]);
    const unknown = await graphql(app.url, '{ toys { nodes { nam } } }', { token: null });
    expect([unknown.status, unknown.text.includes('Did you mean')]).toEqual([401, false]);
  });

  test('Errors-1: no internals and no database messages are shown', async () => {
    const { token } = await app.tenant();
    await app.db.close();
    const broken = await graphql(app.url, '{ toys { nodes { id } } }', { token });
    expect(broken.text).toContain('X-Request-Id');
    expect(broken.text).not.toMatch(/sqlite|select|typeorm|connection/i);
  });
});
