import assert from 'node:assert/strict';
import { assertContains } from '../assertions.js';
import { graphql, rest } from '../http-client.js';
import { literal } from '../inputs.js';
import { accepted } from '../noun-doors.js';
import { TEST_ACTOR, type Tenant } from '../tested-app.js';
import type { Suite } from './suite.js';

export const etags: Suite = ({ noun, doors, app, scopes, test, testWith, beforeEach }) => {
  const { names, hasGet } = noun;
  const list = `${names.path}?limit=1`;
  let tenant: Tenant;
  let ids: string[];
  beforeEach(async () => {
    tenant = await app().tenant();
    ids = [];
    for (const n of [0, 1]) ids.push(accepted(await doors.rest.create(tenant.token, noun.input(n))).id);
  });
  const get = (path: string, headers = {}) => rest(app().url, path, { token: tenant.token, headers });
  const head = (path: string, headers = {}) =>
    rest(app().url, path, { method: 'HEAD', token: tenant.token, headers });
  const run = async (mutation: string) => {
    const { body } = await graphql(app().url, `mutation { ${mutation} { id } }`, { token: tenant.token });
    assert.equal(body.errors, undefined);
  };

  test('RFC9110-1: a GET carries a strong ETag that depends on the body alone, and If-None-Match answers 304', async () => {
    const first = await get(list);
    const etag = first.headers.get('etag') ?? '';
    assert.match(etag, /^"[\w-]{20,}"$/);
    const { token } = await app().app.services.apiKeys.create(TEST_ACTOR, {
      projectId: tenant.projectId,
      name: 'second',
      scopes,
      expiresAtMs: null,
    });
    const other = await rest(app().url, list, { token });
    assert.equal(other.headers.get('etag'), etag);
    for (const tag of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const unchanged = await get(list, { 'if-none-match': tag });
      assert.deepEqual([tag, unchanged.status, unchanged.text], [tag, 304, '']);
      assert.equal(unchanged.headers.get('etag'), etag);
      assert.equal(unchanged.headers.get('link'), first.headers.get('link'));
    }
    assert.equal((await get(list, { 'if-none-match': '"x"' })).status, 200);
    assert.equal((await get(`${names.path}/1`, { 'if-none-match': '*' })).status, 404);
  });

  test('RFC9110-2: HEAD answers as GET without a body, and 304 to a client that has it', async () => {
    for (const path of [list, ...(hasGet ? [`${names.path}/${ids[0]}`] : [])]) {
      const full = await get(path);
      const short = await head(path);
      assert.deepEqual([short.status, short.text], [200, '']);
      for (const name of ['etag', 'link', 'content-length', 'content-type']) {
        assert.deepEqual([name, short.headers.get(name)], [name, full.headers.get(name)]);
      }
      const etag = full.headers.get('etag') ?? '';
      for (const tag of [etag, '*']) {
        const unchanged = await head(path, { 'if-none-match': tag });
        assert.deepEqual([unchanged.status, unchanged.text, unchanged.headers.get('etag')], [304, '', etag]);
      }
    }
  });

  test('ETag-1: each write of either door changes the ETag of the list, and a client that has it gets 200', async () => {
    const writes: Record<string, () => Promise<unknown>> = {
      'POST at REST': () => doors.rest.create(tenant.token, noun.input(2)),
      create: () => run(`${names.create}(input: ${literal(noun, noun.input(3))})`),
      'create several': () => run(`${names.createAll}(inputs: [${literal(noun, noun.input(4))}])`),
      update: () => run(`${names.update}(id: "${ids[0]}", input: ${literal(noun, noun.change(0))})`),
      delete: () => run(`${names.remove}(id: "${ids[1]}")`),
    };
    for (const [name, write] of Object.entries(writes)) {
      const path = `${names.path}?limit=100`;
      // From memory too.
      for (let times = 0; times < 3; times += 1) await get(path);
      const etag = (await get(path)).headers.get('etag') ?? '';
      assert.equal((await get(path, { 'if-none-match': etag })).status, 304);
      await write();
      const changed = await get(path, { 'if-none-match': etag });
      assert.deepEqual([name, changed.status, changed.headers.get('etag') === etag], [name, 200, false]);
    }
  });

  testWith(
    hasGet || null,
    'way to read one record',
    'ETag-2: the ETag of a record changes with the record, not with its neighbours',
    async () => {
      const path = `${names.path}/${ids[0]}`;
      const etag = (await get(path)).headers.get('etag') ?? '';
      assert.match(etag, /^"[\w-]{20,}"$/);
      await run(`${names.update}(id: "${ids[1]}", input: ${literal(noun, noun.change(1))})`);
      assert.equal((await get(path, { 'if-none-match': etag })).status, 304);
      await run(`${names.update}(id: "${ids[0]}", input: ${literal(noun, noun.change(0))})`);
      const changed = await get(path, { 'if-none-match': etag });
      assert.deepEqual([changed.status, changed.headers.get('etag') === etag], [200, false]);
      await run(`${names.remove}(id: "${ids[0]}")`);
      assert.equal((await get(path, { 'if-none-match': etag })).status, 404);
    },
  );

  test('Caching-1: answers are private and vary by key, refusals are not stored', async () => {
    const read = await get(list);
    assert.equal(read.headers.get('cache-control'), 'private, no-cache');
    assertContains(read.headers.get('vary'), 'Authorization');
    assert.equal((await get(`${names.path}/1`)).headers.get('cache-control'), 'no-store');
    assert.equal((await rest(app().url, names.path)).headers.get('cache-control'), 'no-store');
  });

  test('Caching-2: a list from memory has its Link, and its 304 has no Content-Type', async () => {
    for (let time = 0; time < 4; time += 1) {
      const { headers } = await get(list);
      assertContains(headers.get('link'), 'rel="next"');
      const unchanged = await get(list, { 'if-none-match': headers.get('etag') ?? '' });
      assert.deepEqual([unchanged.status, unchanged.headers.get('content-type')], [304, null]);
    }
  });
};
