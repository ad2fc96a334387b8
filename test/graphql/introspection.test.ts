import { expect, test } from '@jest/globals';
import { getIntrospectionQuery } from 'graphql';
import { graphql, rest } from '../support/http/client.js';
import { MINUTE_MS, NOON_MS } from '../support/limiter/charges.js';
import { hammered } from '../support/limiter/hammered.js';
import { onAnyDatabase } from '../support/on-databases.js';

const INTROSPECTION = getIntrospectionQuery();
const PREFLIGHT = { 'apollo-require-preflight': '1' };

onAnyDatabase(
  (app) => {
    const left = async (token: string) => {
      const { body } = await rest(app().url, '/v1/rate_limit', { token });
      return [body.minute.remaining, body.day.remaining];
    };
    const get = (token: string | null, query: string, headers: Record<string, string> = {}, more = '') =>
      rest(app().url, `/graphql?query=${encodeURIComponent(query)}${more}`, {
        token,
        headers: { ...PREFLIGHT, ...headers },
      });

    test.each([
      ['the introspection query', INTROSPECTION],
      ['one type', '{ __type(name: "Toy") { name } }'],
      [
        'both, with __typename, aliases and fragments',
        '{ a: __schema { queryType { name } } ...f __typename } fragment f on Query { b: __type(name: "Toy") { name } }',
      ],
      ['the fields left after @skip', '{ __schema { queryType { name } } project @skip(if: true) { slug } }'],
    ])('Introspection-1: %s spends nothing of the plan', async (_, query) => {
      const { token } = await app().tenant({ plan: 'FREE' });
      const { status, headers, body } = await graphql(app().url, query, { token });
      expect([status, body.errors]).toEqual([200, undefined]);
      expect([headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-remaining')]).toEqual(['60', '60']);
      expect(await left(token)).toEqual([60, 1_000]);
    });

    test.each([
      ['a mixed operation', '{ __schema { queryType { name } } toys { nodes { id } } }', 2],
      ['a mix with management', '{ __schema { queryType { name } } project { slug } }', 0],
      ['__typename alone', '{ __typename }', 1],
      [
        'an introspection that is too large',
        `{ ${Array.from({ length: 21 }, (_, at) => `a${at}: __type(name: "Toy") { name }`).join(' ')} }`,
        1,
      ],
    ])('Introspection-2: %s costs the usual units', async (_, query, cost) => {
      const { token } = await app().tenant({ plan: 'FREE' });
      await graphql(app().url, query, { token });
      expect(await left(token)).toEqual([60 - cost, 1_000 - cost]);
    });

    test('Introspection-3: has its own limit of 60 a minute, shared by all keys of a project', async () => {
      const { token, projectId } = await app().tenant({ plan: 'FREE' });
      const { token: second } = await app().app.services.apiKeys.create(
        { name: 'test', requestId: null },
        { projectId, name: 'second', scopes: ['toys:read'], expiresAtMs: null },
      );
      const query = '{ __type(name: "Toy") { name } }';
      app().clock.now = NOON_MS + 15 * MINUTE_MS + 10_000;
      const answers = await Promise.all(
        Array.from({ length: 70 }, (_, at) => graphql(app().url, query, { token: at % 2 ? token : second })),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(60);
      const refused = answers.filter(({ status }) => status === 429);
      expect(refused).toHaveLength(10);
      for (const { headers, body } of refused) {
        expect(body.errors[0].extensions).toEqual({
          code: 'RATE_LIMITED_MINUTE',
          status: 429,
          retryAfterSeconds: 50,
          limit: 60,
        });
        expect(headers.get('retry-after')).toBe('50');
        expect(headers.get('x-ratelimit-remaining')).toBe('60');
      }
      // The plan is unspent, there is no strike, and other requests are served.
      const standing = await rest(app().url, '/v1/rate_limit', { token });
      expect(standing.body).toMatchObject({ minute: { remaining: 60 }, ban: { strikes: 0 } });
      expect((await graphql(app().url, '{ project { slug } }', { token })).status).toBe(200);
      app().clock.now += 50_000;
      expect((await graphql(app().url, query, { token })).status).toBe(200);
    });

    test('Introspection-4: works when the plan is spent, and while the key is banned', async () => {
      const { token } = await app().tenant({ plan: 'FREE' });
      const list = () => rest(app().url, '/v1/toys', { token });
      for (let sent = 0; sent < 60; sent += 1) await list();
      expect((await list()).status).toBe(429);
      expect((await graphql(app().url, INTROSPECTION, { token })).status).toBe(200);
      await hammered(app().clock, list, ({ body }) => body.code === 'key_banned');
      expect((await graphql(app().url, INTROSPECTION, { token })).status).toBe(200);
      app().clock.now += 5 * MINUTE_MS;
    });

    test('Introspection-5: a GET has a strong ETag, and 304 without a body if the client has it', async () => {
      const { token } = await app().tenant({ plan: 'FREE' });
      const first = await get(token, INTROSPECTION);
      const etag = first.headers.get('etag') ?? '';
      expect([first.status, first.body.data.__schema.queryType.name]).toEqual([200, 'Query']);
      expect(etag).toMatch(/^"[\w-]{27}"$/);
      expect(first.headers.get('cache-control')).toBe('private, no-cache');
      for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
        const again = await get(token, INTROSPECTION, { 'if-none-match': known });
        expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag]);
        expect(again.headers.get('cache-control')).toBe('private, no-cache');
        expect(again.headers.get('x-ratelimit-remaining')).toBe('60');
        expect(again.headers.has('content-type')).toBe(false);
      }
      expect((await get(token, INTROSPECTION, { 'if-none-match': '"other"' })).status).toBe(200);
      // The schema is the same for every process and every project.
      const other = await app().tenant();
      expect((await get(other.token, INTROSPECTION)).headers.get('etag')).toBe(etag);
      expect(await left(token)).toEqual([60, 1_000]);
    });

    test('Introspection-6: another query or other variables have another ETag, other answers have none', async () => {
      const { token } = await app().tenant();
      const byName = 'query ($name: String!) { __type(name: $name) { name } }';
      const variables = (name: string) => `&variables=${encodeURIComponent(JSON.stringify({ name }))}`;
      const tags = [
        await get(token, '{ __type(name: "Toy") { name } }'),
        await get(token, byName, {}, variables('Toy')),
        await get(token, byName, {}, variables('Domain')),
      ].map(({ headers }) => headers.get('etag'));
      expect(new Set(tags).size).toBe(3);
      expect(tags).not.toContain(null);
      const mixed = await get(token, '{ __schema { queryType { name } } project { slug } }', {
        'if-none-match': '*',
      });
      const posted = await graphql(app().url, INTROSPECTION, { token, headers: { 'if-none-match': '*' } });
      for (const { status, headers } of [mixed, posted]) {
        expect([status, headers.get('etag')]).toEqual([200, null]);
      }
      const unknown = await get(null, INTROSPECTION, { 'if-none-match': '*' });
      expect([unknown.status, unknown.headers.get('etag')]).toEqual([401, null]);
    });
  },
  { now: NOON_MS },
);
