import { beforeAll, describe, expect, test } from '@jest/globals';
import petstore from '../../src/petstore.js';
import { doorsOf } from '../../src/testing/noun-doors.js';
import { testedNoun } from '../../src/testing/tested-noun.js';
import { rest } from '../support/http/client.js';
import { onAnyDatabase } from '../support/on-databases.js';
import { PETS, Pet } from '../support/pets/pets.js';
import { PETSTORE } from '../support/pets/petstore.js';
import type { Tenant } from '../support/start-app.js';

const SUNSET_MS = Date.UTC(2030, 11, 5);

onAnyDatabase(
  (app) => {
    let tenant: Tenant;
    beforeAll(async () => {
      tenant = await app().tenant();
    });
    const get = (path: string, headers = {}) => rest(app().url, path, { token: tenant.token, headers });
    const post = (body: unknown, headers = {}, token = tenant.token) =>
      rest(app().url, '/v1/pets', { method: 'POST', token, body, headers });

    describe('createPet', () => {
      test('createPet-2: the answer has no status if none was given', async () => {
        const { body } = await post({ name: 'Rex', categoryId: 3 });
        expect(Object.keys(body)).toEqual(['id', 'name', 'categoryId']);
      });

      test.each(['😀🐕‍🦺𠮷', 'e\u0301', 'Ünïcödé', '‮rtl', '"quotes" \\ and\nlines', '𝒳'.repeat(255)])(
        'createPet-4: the name %j is stored exactly',
        async (name) => {
          const made = await post({ name, categoryId: 1 });
          expect(made.body.name).toBe(name);
          expect((await get(`/v1/pets/${made.body.id}`)).body.name).toBe(name);
        },
      );

      test.each([
        ['{"categoryId":1}', ['name']],
        ['{"name":"Rex"}', ['categoryId']],
        ['{}', ['name', 'categoryId']],
        ['{"name":"","categoryId":1}', ['name']],
        ['{"name":"  \\t","categoryId":1}', ['name']],
        ['{"name":"a\\u0000b","categoryId":1}', ['name']],
        ['{"name":"\\ud800","categoryId":1}', ['name']],
        [`{"name":"${'x'.repeat(256)}","categoryId":1}`, ['name']],
        ['{"name":5,"categoryId":1}', ['name']],
        ['{"name":null,"categoryId":1}', ['name']],
        ['{"name":"Rex","categoryId":"1"}', ['categoryId']],
        ['{"name":"Rex","categoryId":1.5}', ['categoryId']],
        ['{"name":"Rex","categoryId":null}', ['categoryId']],
        ['{"name":"Rex","categoryId":9223372036854775808}', ['categoryId']],
        ['{"name":"Rex","categoryId":-9223372036854775809}', ['categoryId']],
        ['{"name":"Rex","categoryId":1e400}', ['categoryId']],
        ['{"name":"Rex","categoryId":1e19}', ['categoryId']],
        // A number would lose the last digit.
        ['{"name":"Rex","categoryId":9007199254740993.0}', ['categoryId']],
        ['{"name":"Rex","categoryId":9007199254740993e0}', ['categoryId']],
        [`{"name":"Rex","categoryId":${'9'.repeat(90_000)}}`, ['categoryId']],
        ['{"name":"Rex","categoryId":[1]}', ['categoryId']],
        ['{"name":"Rex","categoryId":1,"status":"dead"}', ['status']],
        ['{"name":"Rex","categoryId":1,"status":"Available"}', ['status']],
        ['{"name":"Rex","categoryId":1,"status":null}', ['status']],
        ['{"name":1,"categoryId":"x","status":2}', ['name', 'categoryId', 'status']],
        ['[]', ['body']],
        ['"text"', ['body']],
        ['null', ['body']],
        ['{"name":"Rex","categoryId":1,}', ['body']],
        ['{"name":"Rex","name":"Max","categoryId":1}', ['body']],
        [Buffer.from([0x7b, 0x22, 0x6e, 0xff, 0x22, 0x3a, 0x31, 0x7d]), ['body']],
        ['['.repeat(50_000), ['body']],
        ['', ['body']],
      ])('createPet-5: %.60s is refused with 400 that names %j', async (body, fields) => {
        const refused = await post(body);
        expect(refused.status).toBe(400);
        expect(refused.body).toMatchObject({ code: 'invalid_request', status: 400 });
        const named = refused.body.errors.map(({ field }: { field: string }) => field);
        expect(named.sort()).toEqual([...fields].sort());
      });

      test('createPet-7: another media type is refused with 415, more than 100 KB with 413', async () => {
        const body = '{"name":"Rex","categoryId":1}';
        for (const type of ['text/plain', 'application/xml', 'application/json; charset=utf-16']) {
          const refused = await post(body, { 'content-type': type });
          expect([type, refused.status, refused.body.code]).toEqual([type, 415, 'unsupported_media_type']);
        }
        const large = await post({ name: 'x'.repeat(110_000), categoryId: 1 });
        expect([large.status, large.body.code]).toEqual([413, 'payload_too_large']);
      });
    });

    describe('listPets', () => {
      let owner: Tenant;
      const ids: number[] = [];
      const list = (query: string) => rest(app().url, `/v1/pets${query}`, { token: owner.token });

      beforeAll(async () => {
        owner = await app().tenant();
        for (let index = 0; index < 45; index += 1) {
          const status = index % 3 === 0 ? 'sold' : 'available';
          const { body } = await post({ name: `Pet ${index}`, categoryId: 1, status }, {}, owner.token);
          ids.push(body.id);
        }
      });

      test('listPets-10: the answer names unknown query parameters, also from memory, as 304 and to HEAD', async () => {
        const path = '/v1/pets?limit=1&page=2&S%20%0D%0Ax=1&%F0%9F%90%95=1&page=3';
        const names = 'page, S%20%0D%0Ax, %F0%9F%90%95';
        const first = await get(path);
        expect([first.status, first.headers.get('petstore-ignored-parameters')]).toEqual([200, names]);
        for (let at = 0; at < 3; at += 1) {
          expect((await get(path)).headers.get('petstore-ignored-parameters')).toBe(names);
        }
        const etag = first.headers.get('etag') ?? '';
        const unchanged = await get(path, { 'if-none-match': etag });
        expect([unchanged.status, unchanged.headers.get('petstore-ignored-parameters')]).toEqual([
          304,
          names,
        ]);
        const head = await rest(app().url, path, { method: 'HEAD', token: tenant.token });
        expect(head.headers.get('petstore-ignored-parameters')).toBe(names);
        expect((await get('/v1/pets?limit=1')).headers.has('petstore-ignored-parameters')).toBe(false);
        const made = await rest(app().url, '/v1/pets?dryRun=true', {
          method: 'POST',
          token: tenant.token,
          body: { name: 'Rex', categoryId: 1 },
        });
        expect([made.status, made.headers.get('petstore-ignored-parameters')]).toEqual([201, 'dryRun']);
      });

      test('listPets-11: of many or long unknown parameters the header names 10, each with 30 characters', async () => {
        const many = Array.from({ length: 300 }, (_, at) => `%E2%82%AC${'x'.repeat(at % 45)}${at}=1`).join(
          '&',
        );
        const value = (await get(`/v1/pets?${many}`)).headers.get('petstore-ignored-parameters') ?? '';
        const names = value.split(', ');
        expect([names.length, names[0], names.at(-1)]).toEqual([11, '%E2%82%AC0', '...']);
        const euros = (await get(`/v1/pets?${'%E2%82%AC'.repeat(400)}=1`)).headers;
        expect(euros.get('petstore-ignored-parameters')).toBe('%E2%82%AC'.repeat(30));
      });

      test.each([
        ['?limit=0', 'limit'],
        ['?limit=101', 'limit'],
        ['?limit=-1', 'limit'],
        ['?limit=abc', 'limit'],
        ['?limit=1e1', 'limit'],
        ['?limit=0x10', 'limit'],
        ['?limit=%2010', 'limit'],
        ['?limit=010', 'limit'],
        ['?limit=10.0', 'limit'],
        ['?limit=', 'limit'],
        ['?limit=5&limit=5', 'limit'],
        ['?status=dead', 'status'],
        ['?status=', 'status'],
        ['?status=sold&status=sold', 'status'],
        ['?cursor=', 'cursor'],
        ['?cursor=zzz', 'cursor'],
        ['?cursor=cGV0OjQy&cursor=cGV0OjQy', 'cursor'],
        [`?cursor=${Buffer.from('pet:9223372036854775808').toString('base64url')}`, 'cursor'],
        ['?cursor=cGV0OjQy%3D', 'cursor'],
      ])('listPets-5: %s is refused with 400 that names %s', async (query, field) => {
        const refused = await list(query);
        expect(refused.status).toBe(400);
        expect(refused.body.errors).toEqual([{ field, message: expect.stringMatching(/^must be/) }]);
      });
    });

    describe('getPet', () => {
      test('getPet-1: ids that are unknown or no integer answer 404 in the Error body', async () => {
        for (const id of [
          '1',
          '0',
          '-1',
          '9223372036854775807',
          '9223372036854775808',
          'abc',
          '1.5',
          '%20',
          '1e3',
        ]) {
          const missing = await get(`/v1/pets/${id}`);
          expect([id, missing.status, missing.body.code, missing.body.status]).toEqual([
            id,
            404,
            'not_found',
            404,
          ]);
        }
      });

      test('getPet-2: every status announces deprecation, sunset and successor', async () => {
        const { body } = await post({ name: 'Rex', categoryId: 1 });
        const readOnly = await app().tenant({ scopes: ['pets:write'] });
        const answers = [
          await get(`/v1/pets/${body.id}`),
          await get('/v1/pets/1'),
          await rest(app().url, '/v1/pets/1'),
          await rest(app().url, '/v1/pets/1', { token: readOnly.token }),
          await get('/v1/pets/1', { accept: 'text/html' }),
        ];
        answers.push(await rest(app().url, '/v1/pets/1', { method: 'DELETE', token: tenant.token }));
        expect(answers.map(({ status }) => status)).toEqual([200, 404, 401, 403, 406, 405]);
        for (const { headers } of answers) {
          expect(headers.get('deprecation')).toBe('@1764892800');
          expect(headers.get('sunset')).toBe('Thu, 05 Dec 2030 00:00:00 GMT');
          expect(headers.get('link')).toBe(`<${app().url}/v1/pets>; rel="successor-version"`);
        }
      });

      test('getPet-3: from 5 December 2030 UTC the answer is 410, and not a millisecond earlier', async () => {
        const { body } = await post({ name: 'Rex', categoryId: 1 });
        const { now } = app().clock;
        try {
          app().clock.now = SUNSET_MS - 1;
          expect((await get(`/v1/pets/${body.id}`)).status).toBe(200);
          app().clock.now = SUNSET_MS;
          const gone = await get(`/v1/pets/${body.id}`);
          expect([gone.status, gone.body.code, gone.body.status]).toEqual([410, 'gone', 410]);
          for (const name of ['limit', 'remaining', 'reset'])
            expect(gone.headers.has(`x-ratelimit-${name}`)).toBe(true);
          expect(gone.headers.get('sunset')).toBe('Thu, 05 Dec 2030 00:00:00 GMT');
          expect((await get('/v1/pets')).status).toBe(200);
        } finally {
          app().clock.now = now;
        }
      });

      test('Parity-8: both doors end getPet at the same time', async () => {
        const { body } = await post({ name: 'Rex', categoryId: 1 });
        const doors = doorsOf(testedNoun(petstore, PETS), () => app().url);
        const { now } = app().clock;
        try {
          app().clock.now = Date.UTC(2031, 0, 1);
          const atRest = await doors.rest.get(tenant.token, String(body.id));
          expect(atRest).toMatchObject({ ok: false, code: 'gone', status: 410 });
          expect(await doors.graphql.get(tenant.token, String(body.id))).toEqual(atRest);
        } finally {
          app().clock.now = now;
        }
      });

      test.each(['9223372036854775807', '9007199254740993'])(
        'getPet-4: the id %s comes back digit for digit',
        async (id) => {
          await app()
            .db.repository(Pet)
            .insert({
              projectId: tenant.projectId,
              id: BigInt(id),
              name: 'Edge',
              categoryId: BigInt(id),
              status: null,
              createdAtMs: 1,
            });
          const found = await get(`/v1/pets/${id}`);
          expect(found.text).toBe(`{"id":${id},"name":"Edge","categoryId":${id}}`);
          const before = Buffer.from(`pet:${BigInt(id) - 1n}`).toString('base64url');
          expect((await get(`/v1/pets?limit=1&cursor=${before}`)).text).toBe(`[${found.text}]`);
        },
      );
    });
  },
  { gateway: PETSTORE },
);
