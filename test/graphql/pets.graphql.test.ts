import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { graphql, rest } from '../support/http/client.js';
import { onAnyDatabase } from '../support/on-databases.js';
import { startApp, type Tenant, type TestApp } from '../support/start-app.js';

const CREATE =
  'mutation($input: NewPet!) { createPet(input: $input) { id name categoryId status createdAt } }';
const UPDATE =
  'mutation($id: ID!, $input: PetChanges!) { updatePet(id: $id, input: $input) { id name categoryId status } }';
const PAGE = `query($first: Int, $after: String, $status: PetStatus) {
  pets(first: $first, after: $after, status: $status) {
    edges { cursor node { id } }
    nodes { id }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  }
}`;

onAnyDatabase((app) => {
  let tenant: Tenant;
  beforeAll(async () => {
    tenant = await app().tenant();
  });
  const ask = (query: string, variables: Record<string, unknown> = {}, token = tenant.token) =>
    graphql(app().url, query, { token, variables });
  const create = async (input: Record<string, unknown>, token?: string) =>
    (await ask(CREATE, { input: { name: 'Rex', categoryId: '1', ...input } }, token)).body.data.createPet;

  describe('pets', () => {
    let owner: Tenant;
    const ids: string[] = [];
    beforeAll(async () => {
      owner = await app().tenant();
      for (let index = 0; index < 25; index += 1) {
        ids.push((await create({ status: index % 5 === 0 ? 'sold' : null }, owner.token)).id);
      }
    });
    const page = async (variables: Record<string, unknown>) =>
      (await ask(PAGE, variables, owner.token)).body.data.pets;

    test('Relay-1: pages follow each other by endCursor until hasNextPage is false', async () => {
      const seen: string[] = [];
      let after: string | null = null;
      for (let count = 0; count < 10; count += 1) {
        const { nodes, edges, pageInfo } = await page({ first: 10, after });
        expect(edges.map(({ node }: { node: unknown }) => node)).toEqual(nodes);
        expect(pageInfo.startCursor).toBe(edges[0].cursor);
        expect(pageInfo.endCursor).toBe(edges.at(-1).cursor);
        expect(pageInfo.hasPreviousPage).toBe(after !== null);
        seen.push(...nodes.map(({ id }: { id: string }) => id));
        if (!pageInfo.hasNextPage) break;
        after = pageInfo.endCursor;
      }
      expect(seen).toEqual(ids);
    });

    test('Relay-2: a page has 20 pets by default and for null, is filtered by status, and has no cursors when empty', async () => {
      expect((await page({})).nodes).toHaveLength(20);
      expect((await page({ first: null })).nodes).toHaveLength(20);
      expect((await page({ status: 'sold' })).nodes.map(({ id }: { id: string }) => id)).toEqual(
        ids.filter((_, index) => index % 5 === 0),
      );
      expect(await page({ status: 'pending' })).toEqual({
        edges: [],
        nodes: [],
        pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null },
      });
    });

    test.each([0, -1, 101])('Relay-3: first: %d is refused by name', async (first) => {
      const { body } = await ask(PAGE, { first }, owner.token);
      expect(body.data).toBeNull();
      expect(body.errors[0].extensions).toEqual({
        code: 'INVALID_REQUEST',
        status: 400,
        errors: [{ field: 'first', message: 'must be a whole number from 1 to 100' }],
      });
    });

    test('Relay-4: a cursor that the gateway did not issue is refused', async () => {
      for (const after of ['', 'x', 'cGV0Og', 'cGV0OmFiYw']) {
        const { body } = await ask(PAGE, { after }, owner.token);
        expect([after, body.errors[0].extensions.errors[0].field]).toEqual([after, 'after']);
      }
    });
  });

  describe('ids', () => {
    test.each(['9223372036854775807', '-9223372036854775808', '9007199254740993'])(
      'Ids-6: category %s comes back digit for digit, from a string, a literal and a JSON integer',
      async (digits) => {
        expect((await create({ categoryId: digits })).categoryId).toBe(digits);
        const literal = await ask(
          `mutation { createPet(input: {name: "Rex", categoryId: ${digits}}) { categoryId } }`,
        );
        expect(literal.body.data.createPet.categoryId).toBe(digits);
        const raw = await rest(app().url, '/graphql', {
          method: 'POST',
          token: tenant.token,
          body: `{"query":${JSON.stringify(CREATE)},"variables":{"input":{"name":"Rex","categoryId":${digits}}}}`,
        });
        expect(raw.body.data.createPet.categoryId).toBe(digits);
      },
    );

    test.each(['9223372036854775808', 'abc', '1.5', '', ' 1'])(
      'Ids-7: the category %j is refused',
      async (categoryId) => {
        const { body } = await ask(CREATE, { input: { name: '', categoryId } });
        expect(body.errors[0].extensions.errors.map(({ field }: { field: string }) => field).sort()).toEqual([
          'categoryId',
          'name',
        ]);
      },
    );
  });

  describe('updatePet', () => {
    test('updatePet-1: given fields change and the others stay; null removes the status', async () => {
      const { id } = await create({ status: 'available', categoryId: '7' });
      const change = async (input: Record<string, unknown>) =>
        (await ask(UPDATE, { id, input })).body.data.updatePet;
      expect(await change({ name: 'Max' })).toEqual({
        id,
        name: 'Max',
        categoryId: '7',
        status: 'available',
      });
      expect(await change({ status: 'sold', categoryId: '9007199254740993' })).toMatchObject({
        status: 'sold',
        categoryId: '9007199254740993',
      });
      expect(await change({ status: null })).toMatchObject({ name: 'Max', status: null });
    });

    test('updatePet-3: an empty change is refused with 400 that names input', async () => {
      const { id } = await create({});
      for (const input of [{}, { status: undefined }]) {
        const { body } = await ask(UPDATE, { id, input });
        const { code, status, errors } = body.errors[0].extensions;
        expect([code, status, errors[0].field]).toEqual(['INVALID_REQUEST', 400, 'input']);
      }
    });

    test('updatePet-4: a key without pets:read may select the fields it sent; other fields are refused before the change', async () => {
      const { id } = await create({ status: 'available' });
      const { token } = await app().app.services.apiKeys.create(
        { name: 'test', requestId: null },
        { projectId: tenant.projectId, name: 'writer', scopes: ['pets:write'], expiresAtMs: null },
      );
      const change = (name: string, fields: string) =>
        ask(`mutation { it: updatePet(id: "${id}", input: {name: "${name}"}) ${fields}`, {}, token);
      const own = await change('Max', '{ __typename id n: name }}');
      expect(own.body.data.it).toEqual({ __typename: 'Pet', id, n: 'Max' });
      for (const fields of [
        '{ id s: status }}',
        '{ ...on Pet { createdAt } }}',
        '{ name ...f }} fragment f on Pet { categoryId }',
      ]) {
        const { body } = await change('Moritz', fields);
        expect([body.data, body.errors[0].extensions]).toEqual([null, { code: 'FORBIDDEN', status: 403 }]);
      }
      expect((await ask(`{ pet(id: "${id}") { name } }`)).body.data.pet).toEqual({ name: 'Max' });
    });

    test('updatePet-2: null, empty and out-of-range values are refused by name, and nothing changes', async () => {
      const { id } = await create({});
      for (const input of [{ name: null }, { name: '' }, { categoryId: null }, { categoryId: '1.5' }]) {
        const { body } = await ask(UPDATE, { id, input: { ...input, status: 'sold' } });
        expect(body.errors[0].extensions.errors[0].field).toBe(Object.keys(input)[0]);
      }
      expect((await ask(`{ pet(id: "${id}") { name status } }`)).body.data.pet).toEqual({
        name: 'Rex',
        status: null,
      });
    });
  });

  describe('pet', () => {
    test('pet-1: an unknown id answers null with NOT_FOUND', async () => {
      for (const id of ['1', 'abc', '9223372036854775808']) {
        const { status, body } = await ask('query($id: ID!) { pet(id: $id) { id } }', { id });
        expect([status, body.data, body.errors[0].extensions]).toEqual([
          200,
          { pet: null },
          { code: 'NOT_FOUND', status: 404 },
        ]);
      }
    });

    test('pet-2: from the sunset on pet is gone, like getPet', async () => {
      const { id } = await create({});
      const { now } = app().clock;
      try {
        app().clock.now = Date.UTC(2030, 11, 5);
        const { body } = await ask('query($id: ID!) { pet(id: $id) { id } }', { id });
        expect(body.errors[0].extensions).toEqual({ code: 'GONE', status: 410 });
      } finally {
        app().clock.now = now;
      }
    });
  });

  describe('project', () => {
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
      const { token } = await app().tenant({ scopes: ['pets:read', 'pets:write'] });
      const { body } = await ask('mutation { publishProject { slug } }', {}, token);
      expect(body.errors[0].extensions).toEqual({ code: 'FORBIDDEN', status: 403 });
    });
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
    expect(page.text).toContain('query FirstPets');
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

  test('Batching-1: an array of operations is refused', async () => {
    const { token } = await app.tenant();
    const body = [{ query: '{__typename}' }, { query: '{__typename}' }];
    const refused = await rest(app.url, '/graphql', { method: 'POST', token, body });
    expect([refused.status, refused.body.data]).toEqual([400, undefined]);
  });

  test('Errors-3: a caller with a valid key, who may read the schema, gets suggestions for a misspelled name', async () => {
    const { token } = await app.tenant();
    const typo = await graphql(app.url, '{ pets { nodes { nam } } project { slugg } }', { token });
    expect([typo.status, typo.body.errors]).toEqual([
      400,
      [
        {
          message: 'Cannot query field "nam" on type "Pet". Did you mean "name"?',
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
    const unknown = await graphql(app.url, '{ pets { nodes { nam } } }', { token: null });
    expect([unknown.status, unknown.text.includes('Did you mean')]).toEqual([401, false]);
  });

  test('Errors-1: no internals and no database messages are shown', async () => {
    const { token } = await app.tenant();
    await app.db.close();
    const broken = await graphql(app.url, '{ pets { nodes { id } } }', { token });
    expect(broken.text).toContain('X-Request-Id');
    expect(broken.text).not.toMatch(/sqlite|select|typeorm|connection/i);
  });
});
