import assert from 'node:assert/strict';
import type { Scope } from '../../ground/kernel/caller.js';
import { assertContains } from '../assertions.js';
import { graphql, rest } from '../http-client.js';
import { restBody } from '../inputs.js';
import { TEST_ACTOR, type Tenant } from '../tested-app.js';
import type { Suite } from './suite.js';

export const deletion: Suite = ({ noun, doors, app, fresh, scopes, test, beforeAll }) => {
  const { names } = noun;
  const DELETE = `mutation ($id: ID!) { it: ${names.remove}(id: $id) { __typename id } }`;
  let owner: Tenant;
  beforeAll(async () => {
    owner = await app().tenant();
  });
  const create = async ({ token }: Tenant = owner) => {
    const body = restBody(noun, fresh());
    return String((await rest(app().url, names.path, { method: 'POST', token, body })).body.id);
  };
  const remove = (id: string, { token = owner.token, key }: { token?: string; key?: string } = {}) =>
    graphql(app().url, DELETE, {
      token,
      variables: { id },
      headers: key === undefined ? {} : { 'idempotency-key': key },
    });
  const extensions = async (answer: ReturnType<typeof remove>) => (await answer).body.errors?.[0].extensions;
  const status = async (id: string, { token } = owner) => {
    const found = await doors.rest.get(token, id);
    return found.ok ? 200 : found.status;
  };
  const keyWith = async (scopes: Scope[]) => {
    const wanted = { projectId: owner.projectId, name: 'x', scopes, expiresAtMs: null };
    return (await app().app.services.apiKeys.create(TEST_ACTOR, wanted)).token;
  };

  test('Deletion-1: the record is gone at both doors and from warm lists, and others stay', async () => {
    const tenant = await app().tenant();
    const [first, second] = [await create(tenant), await create(tenant)];
    const lists = async () => {
      const list = `{ oldest: ${names.list} { nodes { id } } newest: ${names.list}(orderBy: NEWEST) { nodes { id } } }`;
      const { data } = (await graphql(app().url, list, { token: tenant.token })).body;
      const { body } = await rest(app().url, names.path, { token: tenant.token });
      return [data.oldest.nodes, data.newest.nodes, body].map((records) =>
        records.map(({ id }: { id: unknown }) => String(id)),
      );
    };
    for (let times = 0; times < 4; times += 1) await lists();
    assert.deepEqual((await remove(first, tenant)).body, {
      data: { it: { __typename: `Deleted${noun.description.type}`, id: first } },
    });
    assert.deepEqual(await lists(), [[second], [second], [second]]);
    assert.deepEqual([await status(first, tenant), await status(second, tenant)], [404, 200]);
  });

  test('Deletion-2: an unknown, deleted or foreign id is NOT_FOUND, and nothing is deleted', async () => {
    const other = await app().tenant();
    const foreign = await create(other);
    const deleted = await create();
    await remove(deleted);
    for (const id of ['1', '-1', 'abc', '9223372036854775808', deleted, foreign]) {
      assert.deepEqual([id, await extensions(remove(id))], [id, { code: 'NOT_FOUND', status: 404 }]);
    }
    assert.equal(await status(foreign, other), 200);
  });

  test('Deletion-3: it needs the scope to write and no other', async () => {
    const id = await create();
    const reader = await keyWith(scopes.filter((scope) => scope !== names.writeScope));
    assert.deepEqual(await extensions(remove(id, { token: reader })), { code: 'FORBIDDEN', status: 403 });
    assert.equal(await status(id), 200);
    const writer = await keyWith([names.writeScope]);
    assert.equal((await remove(id, { token: writer })).body.data.it.id, id);
  });

  test('Deletion-4: of 10 simultaneous requests one deletes the record, and the others find none', async () => {
    const id = await create();
    const answers = await Promise.all(Array.from({ length: 10 }, () => remove(id)));
    assert.equal(answers.filter(({ body }) => body.data?.it).length, 1);
    const codes = new Set(answers.flatMap(({ body }) => body.errors?.[0].extensions.code ?? []));
    assert.deepEqual([...codes], ['NOT_FOUND']);
  });

  test('Deletion-5: with an Idempotency-Key a repeated request gets the first answer, and another id is refused', async () => {
    const [id, other] = [await create(), await create()];
    const first = await remove(id, { key: 'delete' });
    assert.deepEqual((await remove(id, { key: 'delete' })).body, first.body);
    assert.equal((await extensions(remove(other, { key: 'delete' }))).code, 'IDEMPOTENCY_MISMATCH');
    assert.equal(await status(other), 200);
    // A refusal leaves the key free.
    assert.equal((await extensions(remove('1', { key: 'free' }))).code, 'NOT_FOUND');
    assert.equal((await remove(other, { key: 'free' })).body.data.it.id, other);
  });

  test('Deletion-7: a project may delete 300 records a minute, separately from its other writes', async () => {
    const tenant = await app().tenant();
    const id = await create(tenant);
    await remove(id, tenant);
    const { body } = await graphql(app().url, '{ rateLimit { fields { field limit remaining } } }', {
      token: tenant.token,
    });
    assertContains(body.data.rateLimit.fields, {
      field: `Mutation.${names.remove}`,
      limit: 300,
      remaining: 299,
    });
  });
};
