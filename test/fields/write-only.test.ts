import { beforeEach, expect, test } from '@jest/globals';
import { loadGateway } from '../../src/app/gateway.js';
import { defineNoun } from '../../src/noun/define-noun.js';
import { text } from '../../src/noun/kinds/text.js';
import { graphql, rest } from '../support/http/client.js';
import { LOCKERS } from '../support/nouns/lockers.js';
import { onEachDatabase } from '../support/on-databases.js';
import { TEST_ACTOR, type Tenant } from '../support/start-app.js';

const PIN = '86420975';
const NOTE = 'behind the plant';
const LOCKER = { pin: PIN, place: 'Hall 2', note: NOTE };
const PATH = '/v1/lockers';

onEachDatabase(
  (app) => {
    let tenant: Tenant;
    beforeEach(async () => {
      tenant = await app().tenant();
      await app().app.services.projects.change(TEST_ACTOR, tenant.slug, { isLogged: true });
    });
    const send = (path: string, init = {}) => rest(app().url, path, { token: tenant.token, ...init });
    const ask = (query: string, variables = {}) =>
      graphql(app().url, query, { token: tenant.token, variables });
    const create = async () => (await send(PATH, { method: 'POST', body: LOCKER })).body.id;
    test('WriteOnly-1: no answer of either API has the value', async () => {
      const created = await send(PATH, { method: 'POST', body: LOCKER });
      const one = `${PATH}/${created.body.id}`;
      const changed = await send(one, { method: 'PATCH', body: { pin: '12345678', note: null } });
      expect([created.body, changed.body]).toEqual(
        Array(2).fill({ id: created.body.id, place: 'Hall 2', size: 'small' }),
      );
      const answers = [created, changed, await send(one), await send(PATH), await send(`${PATH}/changes`)];
      for (const { text: body } of answers) expect(body).not.toMatch(/pin|note|12345678|behind/i);
      const { body } = await ask('{ __type(name: "Locker") { fields { name } } }');
      const names = body.data.__type.fields.map(({ name }: { name: string }) => name);
      expect(names).toEqual(['createdAt', 'id', 'place', 'size']);
    });

    test('WriteOnly-2: a new record states it, a change may, and the rules hold with the stored value', async () => {
      const missing = await send(PATH, { method: 'POST', body: { place: 'Hall 2' } });
      expect(missing).toMatchObject({ status: 400, body: { errors: [{ field: 'pin' }] } });
      const id = await create();
      const change = (input: object) =>
        ask(
          'mutation ($id: ID!, $input: LockerChanges!) { updateLocker(id: $id, input: $input) { place } }',
          {
            id: String(id),
            input,
          },
        );
      expect((await change({ pin: '0000' })).body.errors[0].extensions.errors).toEqual([
        { field: 'pin', message: 'is too simple for Hall 2' },
      ]);
      expect((await change({ pin: '1357' })).body.data.updateLocker).toEqual({ place: 'Hall 2' });
      expect((await change({ place: 'Hall 3' })).body.data.updateLocker).toEqual({ place: 'Hall 3' });
      const [row] = await app().db.execute<{ pin: string; note: string }>(
        'SELECT pin, note FROM lockers WHERE id = ?',
        [BigInt(id)],
      );
      expect({ ...row }).toEqual({ pin: '1357', note: NOTE });
    });

    test('WriteOnly-3: a repeated Idempotency-Key compares the value, and its answer has none', async () => {
      const headers = { 'idempotency-key': 'locker' };
      const first = await send(PATH, { method: 'POST', body: LOCKER, headers });
      const again = await send(PATH, { method: 'POST', body: LOCKER, headers });
      expect([again.status, again.text]).toEqual([201, first.text]);
      const other = await send(PATH, { method: 'POST', body: { ...LOCKER, pin: '1111' }, headers });
      expect(other.status).toBe(422);
    });

    test('WriteOnly-4: the export of the command line has it, because an import needs it', async () => {
      await create();
      const { exports } = app().app.services.filesOf('lockers');
      const pages = exports.pages(tenant.projectId, {
        signal: new AbortController().signal,
        onWait: () => {},
      });
      for await (const records of pages) expect(records).toMatchObject([{ pin: PIN, note: NOTE }]);
    });

    test('WriteOnly-5: the document says so, and its examples of answers lack it', async () => {
      const { components, paths } = (await send('/v1/openapi.json')).body;
      expect(components.schemas.NewLocker.properties.pin).toMatchObject({ writeOnly: true });
      expect(components.schemas.LockerPatch.properties.note).toMatchObject({ writeOnly: true });
      expect(components.schemas.Locker.properties).not.toHaveProperty('pin');
      const { post } = paths['/lockers'];
      expect(JSON.stringify(post.requestBody)).toContain('4711');
      expect(JSON.stringify(post.responses[201])).not.toContain('pin');
    });
  },
  { gateway: () => loadGateway(LOCKERS) },
);

test('WriteOnly-6: a definition whose lists or answers could not keep it is refused', () => {
  const define = (fields: never) => () => defineNoun({ name: 'locker', fields });
  const pin = text({ writeOnly: true });
  expect(define({ pin } as never)).toThrow('every field is writeOnly, so an answer has nothing.');
  const filtered = { place: text({}), pin: text({ writeOnly: true, filter: 'start' }) };
  expect(define(filtered as never)).toThrow('not every key reads pin, and its lists would tell its values.');
});
