import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { expect, test } from '@jest/globals';
import { graphql, rest } from '../support/http/client.js';
import { HOUR_MS, MINUTE_MS } from '../support/limiter/charges.js';
import { onEachDatabase } from '../support/on-databases.js';
import { startApp, TEST_ACTOR, type Tenant, type TestApp } from '../support/start-app.js';

const FIELDS = `nodes { id at keyId keyName keyPrefix door operation status code outcome durationMs units requestId }
  pageInfo { hasNextPage hasPreviousPage startCursor endCursor } leftOut isOn`;

interface Shown {
  id: string;
  door: string;
  operation: string;
  outcome: string;
  code: string | null;
  requestId: string;
}

interface Page {
  nodes: Shown[];
  pageInfo: { hasNextPage: boolean; endCursor: string };
  leftOut: number;
  isOn: boolean;
}

/** Stores every request so far, and reads the log. */
async function read({ app, url }: TestApp, { token }: Pick<Tenant, 'token'>, args = ''): Promise<Page> {
  await app.services.requestWriter.flush(true);
  const { body } = await graphql(url, `{ project { requests${args} { ${FIELDS} } } }`, { token });
  expect(body.errors).toBeUndefined();
  return body.data.project.requests;
}

onEachDatabase((app) => {
  const list = (token: string, query = '') => rest(app().url, `/v1/toys${query}`, { token });
  /** Each request is answered in its own second. */
  const next = () => {
    app().clock.now += 1_000;
  };

  test('Requests-11: a request is in the log under each spelling of its path', async () => {
    const { token } = await app().tenant();
    const query = '{ toys(first: 1) { nodes { id } } }';
    for (const path of ['/v%31/toys', '/v%31/nothing']) {
      await rest(app().url, path, { token });
      next();
    }
    await rest(app().url, '/%67raphql', { method: 'POST', token, body: { query } });
    next();
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    // `fetch` would not send the fragment.
    const asked = request(app().url, { method: 'POST', path: '/graphql#?', headers });
    const [answer] = (await once(asked.end(JSON.stringify({ query })), 'response')) as [IncomingMessage];
    answer.resume();
    next();
    const { nodes } = await read(app(), { token });
    expect(nodes.map((node) => node.door)).toEqual(['GRAPHQL', 'GRAPHQL', 'REST', 'REST']);
  });

  test('Requests-1: the owner reads each answered request with its facts, newest first', async () => {
    const { token, slug, keyId } = await app().tenant();
    const quota = { plan: 'ENTERPRISE', perMinute: 4, perDay: 1_000 } as const;
    await app().app.services.projects.change(TEST_ACTOR, slug, quota);
    app().clock.now = Math.ceil(app().clock.now / MINUTE_MS) * MINUTE_MS;
    const startedAt = app().clock.now;
    const created = await rest(app().url, '/v1/toys', {
      method: 'POST',
      token,
      body: { name: 'Rex', categoryId: 1 },
    });
    next();
    const unknown = await rest(app().url, '/v1/toys/1', { token });
    next();
    await graphql(app().url, 'query Shelf { toys(first: 1) { nodes { id } } toy(id: "x") { id } }', {
      token,
    });
    next();
    await list(token);
    next();
    // Neither is the project's: a free request, and a request without a valid key.
    await rest(app().url, '/v1/rate_limit', { token });
    await list('pk_unknown');

    const { nodes, leftOut, isOn } = await read(app(), { token });
    const { prefix } = await app().app.services.apiKeys.get(keyId);
    const common = { keyId: String(keyId), keyName: 'test', keyPrefix: prefix };
    const facts = nodes.map(({ id: _id, ...request }) => request);
    expect(facts).toEqual([
      {
        ...common,
        at: iso(startedAt + 3_000),
        door: 'REST',
        operation: 'listToys',
        status: 429,
        code: 'RATE_LIMITED_MINUTE',
        outcome: 'REFUSED',
        units: 0,
        durationMs: expect.any(Number),
        requestId: expect.any(String),
      },
      {
        ...common,
        at: iso(startedAt + 2_000),
        door: 'GRAPHQL',
        operation: 'Shelf',
        status: 200,
        code: 'NOT_FOUND',
        outcome: 'FAILED',
        units: 2,
        durationMs: expect.any(Number),
        requestId: expect.any(String),
      },
      {
        ...common,
        at: iso(startedAt + 1_000),
        door: 'REST',
        operation: 'getToy',
        status: 404,
        code: 'NOT_FOUND',
        outcome: 'FAILED',
        units: 1,
        durationMs: expect.any(Number),
        requestId: unknown.headers.get('x-request-id'),
      },
      {
        ...common,
        at: iso(startedAt),
        door: 'REST',
        operation: 'createToy',
        status: 201,
        code: null,
        outcome: 'OK',
        units: 1,
        durationMs: expect.any(Number),
        requestId: created.headers.get('x-request-id'),
      },
    ]);
    expect([leftOut, isOn]).toEqual([0, true]);
  });

  test('Requests-2: a filter selects by key, door, operation, status, outcome and request id, also combined', async () => {
    const tenant = await app().tenant();
    const { token, projectId, keyId } = tenant;
    const wanted = { projectId, name: 'second', scopes: ['toys:read'], expiresAtMs: null } as const;
    const second = await app().app.services.apiKeys.create(TEST_ACTOR, {
      ...wanted,
      scopes: [...wanted.scopes],
    });
    await list(token);
    const bad = await list(second.token, '?limit=0');
    await graphql(app().url, 'query Shelf { toys(first: 1) { nodes { id } } }', { token });
    await rest(app().url, '/v1/toys/1', { token });
    const found = async (filter: string) => {
      const { nodes } = await read(app(), tenant, `(filter: {${filter}})`);
      return nodes
        .filter(({ operation }) => operation !== 'project')
        .map(({ operation, code }) => code ?? operation)
        .sort();
    };
    const requestId = bad.headers.get('x-request-id');
    expect(await found(`keyId: "${second.key.id}"`)).toEqual(['INVALID_REQUEST']);
    expect(await found('door: GRAPHQL')).toEqual(['Shelf']);
    expect(await found('operation: "listToys"')).toEqual(['INVALID_REQUEST', 'listToys']);
    expect(await found('status: 404')).toEqual(['NOT_FOUND']);
    expect(await found('outcome: FAILED')).toEqual(['INVALID_REQUEST', 'NOT_FOUND']);
    expect(await found(`requestId: "${requestId}"`)).toEqual(['INVALID_REQUEST']);
    expect(await found(`operation: "listToys", outcome: OK, keyId: "${keyId}"`)).toEqual(['listToys']);
    expect(await found('operation: null, outcome: null, keyId: null, status: 404')).toEqual(['NOT_FOUND']);
    for (const none of [
      'keyId: "x"',
      'keyId: "-1"',
      'outcome: REFUSED',
      'operation: "listtoys"',
      'operation: "listToys "',
      'requestId: "%"',
      'status: -1',
    ]) {
      expect([none, await found(none)]).toEqual([none, []]);
    }
  });

  test('Requests-3: pages follow each other without a gap, and a cursor counts only with its own filter', async () => {
    const tenant = await app().tenant();
    for (let sent = 0; sent < 7; sent += 1) {
      await list(tenant.token, sent % 2 === 0 ? '' : '?limit=0');
      next();
    }
    const ok = (await read(app(), tenant, '(filter: {operation: "listToys"})')).nodes.map(({ id }) => id);
    expect(ok).toHaveLength(7);
    const seen: string[] = [];
    let after = '';
    for (let page = 0; page < 3; page += 1) {
      const { nodes, pageInfo } = await read(
        app(),
        tenant,
        `(first: 3, filter: {operation: "listToys"}${after})`,
      );
      expect(pageInfo).toMatchObject({ hasNextPage: page < 2, hasPreviousPage: page > 0 });
      seen.push(...nodes.map(({ id }) => id));
      after = `, after: "${pageInfo.endCursor}"`;
    }
    expect(seen).toEqual(ok);

    const refused = async (args: string) => {
      const query = `{ project { requests${args} { leftOut } } }`;
      const { body } = await graphql(app().url, query, { token: tenant.token });
      return body.errors?.[0].extensions.errors?.[0].field;
    };
    expect(await refused(`(filter: {operation: "listToys"}${after})`)).toBeUndefined();
    const others = [
      after.replace(', ', '('),
      `(filter: {status: 200}${after}`,
      `(filter: {operation: "getToy"}${after}`,
    ];
    for (const other of [...others.map((args) => `${args})`), '(after: "x")']) {
      expect([other, await refused(other)]).toEqual([other, 'after']);
    }
    for (const size of [0, 101]) expect(await refused(`(first: ${size})`)).toBe('first');
  });

  test('Requests-4: a project sees only its own requests, and only a key with the scope keys reads them', async () => {
    const [mine, theirs] = [await app().tenant(), await app().tenant({ scopes: ['toys:read', 'domains'] })];
    await list(theirs.token);
    for (let sent = 0; sent < 60; sent += 1) await list(theirs.token, '?limit=0');
    const { nodes, leftOut } = await read(app(), mine, `(filter: {keyId: "${theirs.keyId}"})`);
    expect([nodes, leftOut]).toEqual([[], 0]);
    const { body } = await graphql(app().url, '{ project { requests { leftOut } } }', {
      token: theirs.token,
    });
    expect(body.errors[0].extensions.code).toBe('FORBIDDEN');
  });

  test('Requests-5: of a flood in one second 50 are kept, every error before any other, and the rest is counted', async () => {
    const tenant = await app().tenant();
    const { token } = tenant;
    await Promise.all(Array.from({ length: 90 }, () => list(token)));
    await Promise.all(Array.from({ length: 30 }, (_, at) => list(token, at % 2 === 0 ? '?limit=0' : '')));
    await Promise.all(Array.from({ length: 30 }, () => rest(app().url, '/v1/toys/1', { token })));
    const flood = await read(app(), tenant, '(first: 100)');
    const count = (outcome: string) => flood.nodes.filter((request) => request.outcome === outcome).length;
    expect([count('OK'), count('FAILED'), flood.leftOut]).toEqual([5, 45, 100]);

    next();
    await Promise.all(Array.from({ length: 70 }, (_, at) => list(token, at < 10 ? '' : '?limit=0')));
    const errors = await read(app(), tenant, '(first: 100, filter: {outcome: FAILED})');
    // `read` stores the current second too, so the log has the request that read the flood.
    expect([errors.nodes.length, errors.leftOut]).toEqual([95, 100 + 20]);
    next();
  });

  test('Requests-6: nothing that a client sends is kept, apart from the name of an operation', async () => {
    const tenant = await app().tenant();
    const { token } = tenant;
    const secret = 'Zq7secret';
    const headers = {
      'x-request-id': secret,
      'x-forwarded-for': '203.0.113.9',
      'user-agent': secret,
      cookie: secret,
    };
    await rest(app().url, `/v1/toys?limit=${secret}`, { token, headers });
    await rest(app().url, `/v1/toys/${token}`, { token, headers });
    await rest(app().url, `/v1/${secret}`, { token, headers });
    await rest(app().url, '/v1/toys', { method: 'POST', token, headers, body: `{"name": "${secret}` });
    await rest(app().url, '/v1/toys', {
      method: 'POST',
      token,
      headers,
      body: { name: secret, categoryId: secret },
    });
    const send = (body: unknown) => rest(app().url, '/graphql', { method: 'POST', token, headers, body });
    await send({ query: 'query Named($id: ID!) { toy(id: $id) { name } }', variables: { id: secret } });
    await send({ query: `query ${token} { toy(id: "${secret}") { ${secret}: name } }` });
    await send({ query: `{ ${secret}: toy(id: "1") { id } }` });
    await send({ query: `query Named { ${secret} }` });
    await send({
      query: `query Named { toys(first: 1, after: "${secret}") { nodes { id } } }`,
      operationName: token,
    });
    await send({ query: `query Named { toys { nodes { id } } }`, operationName: `${secret} ${secret}` });
    await send({ query: secret, extensions: { persistedQuery: { version: 1, sha256Hash: secret } } });
    await send(secret);
    await app().app.services.requestWriter.flush(true);
    const { manager } = app().db.repository('LoggedRequest');
    const rows = await manager.query('SELECT * FROM logged_requests WHERE project_id = ?', [
      tenant.projectId,
    ]);
    expect(rows.length).toBeGreaterThanOrEqual(12);
    const text = JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? String(value) : value));
    for (const part of [secret, token, token.slice(3, 30), '203.0.113.9', '127.0.0.1', '::1', '{', 'query']) {
      const found = part === '{' ? text.slice(2).replaceAll('},{', '').includes('{') : text.includes(part);
      expect([part, found]).toEqual([part, false]);
    }
  });

  test('Requests-7: an operation filters at most five lists', async () => {
    const { token } = await app().tenant();
    const lists = (count: number, filter: string) =>
      Array.from(
        { length: count },
        (_, at) => `a${at}: requests(first: 1, filter: ${filter}) { leftOut }`,
      ).join(' ');
    const ask = async (inner: string) =>
      (await graphql(app().url, `{ project { ${inner} } }`, { token })).body;
    expect((await ask(lists(5, '{status: 200}'))).errors).toBeUndefined();
    expect((await ask(lists(12, '{}'))).errors).toBeUndefined();
    expect((await ask(lists(6, '{status: 200}'))).errors[0].extensions).toMatchObject({
      code: 'INVALID_REQUEST',
      errors: [{ field: 'filter' }],
    });
  });

  test('Requests-8: the log ends after 48 hours', async () => {
    const tenant = await app().tenant();
    // Requests are counted by UTC hours.
    app().clock.now = Math.ceil(app().clock.now / HOUR_MS) * HOUR_MS;
    await Promise.all(Array.from({ length: 60 }, () => list(tenant.token)));
    next();
    expect((await read(app(), tenant)).leftOut).toBe(10);
    app().clock.now += 47 * HOUR_MS;
    await list(tenant.token);
    expect(await read(app(), tenant, '(first: 1, filter: {status: 200})')).toMatchObject({
      pageInfo: { hasNextPage: true },
      leftOut: 10,
    });
    app().clock.now += HOUR_MS + MINUTE_MS;
    const { nodes, leftOut } = await read(app(), tenant, '(filter: {operation: "listToys"})');
    expect([nodes.length, leftOut]).toEqual([1, 0]);

    for (const each of app().app.services.capabilities) await each.deleteOldRows?.();
    const { manager } = app().db.repository('LoggedRequest');
    const [row] = await manager.query(
      'SELECT COUNT(*) AS rows_left FROM logged_requests WHERE project_id = ?',
      [tenant.projectId],
    );
    expect(Number(row.rows_left)).toBe(2);
  });
});

test('Requests-9: with REQUEST_LOG=off nothing is stored, and the log says so', async () => {
  const running = await startApp({ env: { REQUEST_LOG: 'off' } });
  try {
    const tenant = await running.tenant();
    await rest(running.url, '/v1/toys', { token: tenant.token });
    expect(await read(running, tenant)).toMatchObject({ nodes: [], leftOut: 0, isOn: false });
  } finally {
    await running.stop();
  }
});

function iso(atMs: number): string {
  return new Date(atMs).toISOString();
}
