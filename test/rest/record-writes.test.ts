import { beforeEach, expect, test } from '@jest/globals';
import { createGateway, loadGateway } from '../../src/app/gateway.js';
import { REPLAYED } from '../../src/request/http/headers.js';
import { graphql, rest } from '../support/http/client.js';
import { books } from '../support/nouns/books.js';
import { onEachDatabase } from '../support/on-databases.js';
import type { Tenant } from '../support/start-app.js';

const BOOK = {
  title: 'Emma',
  pages: 474,
  priceCents: 1299,
  state: 'draft',
  publishedOn: '1815-12-23',
};
const MERGE_PATCH = { 'content-type': 'application/merge-patch+json' };
const OTHER_TAG = '"123456789012345678901234567"';

onEachDatabase(
  (app) => {
    let tenant: Tenant;
    let path: string;
    let id: number;
    beforeEach(async () => {
      tenant = await app().tenant();
      ({ id } = (await send('/v1/books', { method: 'POST', body: BOOK })).body);
      path = `/v1/books/${id}`;
    });
    const send = (at: string, init = {}) => rest(app().url, at, { token: tenant.token, ...init });
    const patch = (body: unknown, headers: Record<string, string> = {}) =>
      send(path, { method: 'PATCH', body, headers });
    const remove = (headers: Record<string, string> = {}) => send(path, { method: 'DELETE', headers });
    const stored = async () => (await send(path)).body;
    const tag = async () => (await send(path)).headers.get('etag') as string;

    test('RecordWrites-1: PATCH changes the stated fields and answers with the record and the ETag of its GET', async () => {
      const answer = await patch({ title: 'Persuasion', priceCents: 9007199254740993n.toString() });
      expect(answer.status).toBe(400);
      const changed = await patch(
        '{"title":"Persuasion","pages":250,"priceCents":9007199254740993,"extra":1}',
      );
      const expected = { ...BOOK, id, title: 'Persuasion', pages: 250, priceCents: 9007199254740993n };
      expect(changed).toMatchObject({ status: 200, body: { ...expected, rating: 3, binding: 'paper' } });
      const read = await send(path);
      expect(changed.text).toBe(read.text);
      expect(changed.headers.get('etag')).toBe(read.headers.get('etag'));
      expect(changed.headers.get('x-ratelimit-limit')).not.toBeNull();
    });

    test('RecordWrites-2: PATCH is RFC 7396: null removes an optional value, also as application/merge-patch+json', async () => {
      expect((await patch({ state: null }, MERGE_PATCH)).status).toBe(200);
      expect(await stored()).not.toHaveProperty('state');
      expect((await patch({ publishedOn: null })).body).not.toHaveProperty('publishedOn');
      const elsewhere = await send('/v1/books', { method: 'POST', body: BOOK, headers: MERGE_PATCH });
      expect(elsewhere).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } });
    });

    test('RecordWrites-3: an invalid PATCH changes nothing and names each field', async () => {
      const before = await stored();
      const refusals: [unknown, string[]][] = [
        [{}, ['body']],
        [{ unknown: 1 }, ['body']],
        ['[]', ['body']],
        ['null', ['body']],
        ['"text"', ['body']],
        [{ title: null, pages: 0, rating: 6 }, ['pages', 'rating', 'title']],
        [{ rating: null }, ['rating']],
        [{ binding: 'cloth' }, ['binding']],
        ['{"priceCents":9223372036854775808}', ['priceCents']],
        ['{"pages":4294967297}', ['pages']],
        ['{"pages":1.5}', ['pages']],
      ];
      for (const [body, fields] of refusals) {
        const { status, body: error } = await patch(body);
        const named = error.errors.map(({ field }: { field: string }) => field).sort();
        expect([body, status, error.code, named]).toEqual([body, 400, 'invalid_request', fields]);
      }
      expect(await stored()).toEqual(before);
    });

    test('RecordWrites-4: with If-Match only the record as it was read is changed or deleted; of two writers one wins', async () => {
      const first = await tag();
      for (const stale of [OTHER_TAG, `W/${first}`, 'no tag']) {
        const refused = await patch({ title: 'Lost' }, { 'if-match': stale });
        expect([stale, refused.status, refused.body.code]).toEqual([stale, 412, 'precondition_failed']);
        expect((await remove({ 'if-match': stale })).status).toBe(412);
      }
      const writers = await Promise.all(
        ['A', 'B', 'C', 'D'].map((title) => patch({ title }, { 'if-match': first })),
      );
      expect(writers.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412]);
      const won = writers.find(({ status }) => status === 200);
      expect(await stored()).toEqual(won?.body);
      const list = { 'if-match': `${OTHER_TAG} , ${await tag()}` };
      expect((await patch({ title: 'In a list' }, list)).status).toBe(200);
      expect((await patch({ title: 'Any' }, { 'if-match': '*' })).status).toBe(200);
      expect((await remove({ 'if-match': await tag() })).status).toBe(204);
      expect((await patch({ title: 'Gone' }, { 'if-match': '*' })).status).toBe(404);
    });

    test('RecordWrites-5: a repeated Idempotency-Key answers as the first request, also after the record has changed', async () => {
      const headers = { 'idempotency-key': 'change', 'if-match': await tag() };
      const first = await patch({ title: 'Once' }, headers);
      await patch({ title: 'Later' });
      const again = await patch({ title: 'Once' }, headers);
      expect([again.status, again.text]).toEqual([200, first.text]);
      expect(again.headers.get('etag')).toBe(first.headers.get('etag'));
      expect(again.headers.get(REPLAYED)).toBe('true');
      expect(await stored()).toMatchObject({ title: 'Later' });
      expect((await patch({ title: 'Other' }, headers)).status).toBe(422);
      const overGraphQL = await graphql(
        app().url,
        `mutation { updateBook(id: "${id}", input: {title: "Once"}) { title } }`,
        { token: tenant.token, headers: { 'idempotency-key': 'change' } },
      );
      expect(overGraphQL.body.data.updateBook).toEqual({ title: 'Once' });

      const key = { 'idempotency-key': 'removal' };
      expect((await remove(key)).status).toBe(204);
      const repeated = await remove(key);
      expect([repeated.status, repeated.headers.get(REPLAYED)]).toEqual([204, 'true']);
      expect(await remove()).toMatchObject({ status: 404, body: { code: 'not_found' } });
    });

    test('RecordWrites-6: DELETE takes no body and answers 204 without one', async () => {
      const answer = await remove({ 'content-type': 'application/json' });
      expect([answer.status, answer.text, answer.headers.get('content-type')]).toEqual([204, '', null]);
      const another = await send('/v1/books', { method: 'POST', body: BOOK });
      const form = { 'content-type': 'application/x-www-form-urlencoded' };
      const typed = await send(`/v1/books/${another.body.id}`, { method: 'DELETE', headers: form });
      expect(typed.status).toBe(204);
      expect((await send(path)).status).toBe(404);
    });

    test('RecordWrites-7: PATCH needs the scopes to read and to write, DELETE the one to write, and both a record of the project', async () => {
      const writer = await app().tenant({ scopes: ['books:write'] });
      const created = await rest(app().url, '/v1/books', {
        method: 'POST',
        token: writer.token,
        body: BOOK,
      });
      const own = `/v1/books/${created.body.id}`;
      const blind = await rest(app().url, own, { method: 'PATCH', token: writer.token, body: { pages: 1 } });
      expect([blind.status, blind.body.message]).toEqual([403, expect.stringContaining('books:read')]);
      const reader = await app().tenant({ scopes: ['books:read'] });
      for (const method of ['PATCH', 'DELETE']) {
        const refused = await rest(app().url, own, {
          method,
          token: reader.token,
          ...(method === 'PATCH' && { body: { pages: 2 } }),
        });
        expect([method, refused.status, refused.body.code]).toEqual([method, 403, 'forbidden']);
        // For the key of another project the record does not exist.
        expect((await send(own, { method, ...(method === 'PATCH' && { body: { pages: 2 } }) })).status).toBe(
          404,
        );
      }
    });

    test('RecordWrites-8: the path says what it supports, to clients and to pages', async () => {
      const one = await rest(app().url, path, {
        method: 'OPTIONS',
        headers: { origin: 'http://localhost:3000' },
      });
      expect([one.status, one.headers.get('allow')]).toEqual([204, 'GET, HEAD, PATCH, DELETE, OPTIONS']);
      expect(one.headers.get('accept-patch')).toBe('application/json, application/merge-patch+json');
      expect(one.headers.get('access-control-allow-methods')).toBe('GET, HEAD, PATCH, DELETE');
      const { components } = (await rest(app().url, '/v1/openapi.json')).body;
      expect(components.schemas.Error.properties.code.enum).toContain('precondition_failed');
      const put = await send(path, { method: 'PUT', body: BOOK });
      expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, HEAD, PATCH, DELETE, OPTIONS']);
    });
  },
  { gateway: () => loadGateway(createGateway({ name: 'Books', nouns: [books] })) },
);
