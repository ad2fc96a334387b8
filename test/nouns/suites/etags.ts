import { beforeEach, expect, test } from '@jest/globals';
import { graphql, rest } from '../../support/http/client.js';
import { accepted, doorsOf } from '../../support/nouns/noun-doors.js';
import { literal } from '../../support/nouns/test-noun.js';
import { TEST_ACTOR, type Tenant } from '../../support/start-app.js';
import type { Suite } from '../suites.js';

export const etags: Suite = (noun, names, app) => {
  const doors = doorsOf(noun, names, () => app().url);
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
    expect(body.errors).toBeUndefined();
  };

  test('RFC9110-1: a GET carries a strong ETag that depends on the body alone, and If-None-Match answers 304', async () => {
    const first = await get(list);
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]{20,}"$/);
    const { token } = await app().app.services.apiKeys.create(TEST_ACTOR, {
      projectId: tenant.projectId,
      name: 'second',
      scopes: [names.readScope],
      expiresAtMs: null,
    });
    const other = await rest(app().url, list, { token });
    expect(other.headers.get('etag')).toBe(etag);
    for (const tag of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const unchanged = await get(list, { 'if-none-match': tag });
      expect([tag, unchanged.status, unchanged.text]).toEqual([tag, 304, '']);
      expect(unchanged.headers.get('etag')).toBe(etag);
      expect(unchanged.headers.get('link')).toBe(first.headers.get('link'));
    }
    expect((await get(list, { 'if-none-match': '"x"' })).status).toBe(200);
    expect((await get(`${names.path}/1`, { 'if-none-match': '*' })).status).toBe(404);
  });

  test('RFC9110-2: HEAD answers as GET without a body, and 304 to a client that has it', async () => {
    for (const path of [list, `${names.path}/${ids[0]}`]) {
      const full = await get(path);
      const short = await head(path);
      expect([short.status, short.text]).toEqual([200, '']);
      for (const name of ['etag', 'link', 'content-length', 'content-type']) {
        expect([name, short.headers.get(name)]).toEqual([name, full.headers.get(name)]);
      }
      const etag = full.headers.get('etag') ?? '';
      for (const tag of [etag, '*']) {
        const unchanged = await head(path, { 'if-none-match': tag });
        expect([unchanged.status, unchanged.text, unchanged.headers.get('etag')]).toEqual([304, '', etag]);
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
      expect((await get(path, { 'if-none-match': etag })).status).toBe(304);
      await write();
      const changed = await get(path, { 'if-none-match': etag });
      expect([name, changed.status, changed.headers.get('etag') === etag]).toEqual([name, 200, false]);
    }
  });

  test('ETag-2: the ETag of a record changes with the record, not with its neighbours', async () => {
    const path = `${names.path}/${ids[0]}`;
    const etag = (await get(path)).headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]{20,}"$/);
    await run(`${names.update}(id: "${ids[1]}", input: ${literal(noun, noun.change(0))})`);
    expect((await get(path, { 'if-none-match': etag })).status).toBe(304);
    await run(`${names.update}(id: "${ids[0]}", input: ${literal(noun, noun.change(0))})`);
    const changed = await get(path, { 'if-none-match': etag });
    expect([changed.status, changed.headers.get('etag') === etag]).toEqual([200, false]);
    await run(`${names.remove}(id: "${ids[0]}")`);
    expect((await get(path, { 'if-none-match': etag })).status).toBe(404);
  });

  test('Caching-1: answers are private and vary by key, refusals are not stored', async () => {
    const read = await get(list);
    expect(read.headers.get('cache-control')).toBe('private, no-cache');
    expect(read.headers.get('vary')).toContain('Authorization');
    expect((await get(`${names.path}/1`)).headers.get('cache-control')).toBe('no-store');
    expect((await rest(app().url, names.path)).headers.get('cache-control')).toBe('no-store');
  });

  test('Caching-2: a list from memory has its Link, and its 304 has no Content-Type', async () => {
    for (let time = 0; time < 4; time += 1) {
      const { headers } = await get(list);
      expect(headers.get('link')).toContain('rel="next"');
      const unchanged = await get(list, { 'if-none-match': headers.get('etag') ?? '' });
      expect([unchanged.status, unchanged.headers.get('content-type')]).toEqual([304, null]);
    }
  });
};
