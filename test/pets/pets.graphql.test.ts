import { beforeAll, describe, expect, test } from '@jest/globals';
import { graphql, rest } from '../support/http/client.js';
import { onAnyDatabase } from '../support/on-databases.js';
import { PETSTORE } from '../support/pets/petstore.js';
import type { Tenant } from '../support/start-app.js';

const CREATE =
  'mutation($input: NewPet!) { createPet(input: $input) { id name categoryId status createdAt } }';
const UPDATE =
  'mutation($id: ID!, $input: PetChanges!) { updatePet(id: $id, input: $input) { id name categoryId status } }';

onAnyDatabase(
  (app) => {
    let tenant: Tenant;
    beforeAll(async () => {
      tenant = await app().tenant();
    });
    const ask = (query: string, variables: Record<string, unknown> = {}, token = tenant.token) =>
      graphql(app().url, query, { token, variables });
    const create = async (input: Record<string, unknown>, token?: string) =>
      (await ask(CREATE, { input: { name: 'Rex', categoryId: '1', ...input } }, token)).body.data.createPet;

    test('Errors-5: both APIs say which value they refuse, and what is missing', async () => {
      const made = await ask(CREATE, { input: { name: 'Rex', categoryId: 'abc' } });
      expect(made.body.errors[0].message).toMatch(/^categoryId must be an integer .* \(got "abc"\)$/);
      const changed = await ask(UPDATE, { id: '1', input: { name: ' ' } });
      expect(changed.body.errors[0].message).toMatch(/^name must be text .* \(got " "\)$/);
      const sent = (path: string, body?: object) =>
        rest(app().url, path, { token: tenant.token, ...(body ? { method: 'POST', body } : {}) });
      const pet = await sent('/v1/pets', { categoryId: 'abc', status: 'lost' });
      expect(pet.body.message).toMatch(
        /^name must be .* \(got nothing\); categoryId must be .* \(got "abc"\); status must be one of .* \(got "lost"\)$/,
      );
      const page = await sent('/v1/pets?limit=1000');
      expect(page.body.message).toBe('limit must be a whole number from 1 to 100 (got 1000)');
    });

    describe('updatePet', () => {
      test('Update-1: given fields change and the others stay; null removes the status', async () => {
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

      test('Update-3: an empty change is refused with 400 that names input', async () => {
        const { id } = await create({});
        for (const input of [{}, { status: undefined }]) {
          const { body } = await ask(UPDATE, { id, input });
          const { code, status, errors } = body.errors[0].extensions;
          expect([code, status, errors[0].field]).toEqual(['INVALID_REQUEST', 400, 'input']);
        }
      });

      test('Update-4: a key without pets:read may select the fields it sent; other fields are refused before the change', async () => {
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

      test('Update-2: null, empty and out-of-range values are refused by name, and nothing changes', async () => {
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
  },
  { gateway: PETSTORE },
);
