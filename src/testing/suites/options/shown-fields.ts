import assert from 'node:assert/strict';
import { assertIncludes } from '../../assertions.js';
import { graphql, rest } from '../../http-client.js';
import { restBody } from '../../inputs.js';
import { accepted } from '../../noun-doors.js';
import { TEST_ACTOR, type Tenant } from '../../tested-app.js';
import type { Suite } from '../suite.js';

/** Computed fields, and those that no key or not every key reads. */
export const shownFields: Suite = ({ noun, doors, app, fresh, scopes, testWith, beforeEach }) => {
  const { names, fields, computed, description, hasRecordWrites } = noun;
  const given = (name: string) => (noun.input(0)[name] ?? null) !== null;
  const some = <Item>(items: readonly Item[]) => (items.length > 0 ? items : null);
  let owner: Tenant;
  beforeEach(async () => {
    owner = await app().tenant();
  });
  const send = (path: string, init: object = {}, { token } = owner) =>
    rest(app().url, `${names.path}${path}`, { token, ...init });
  const post = (body: string) => send('', { method: 'POST', body });

  testWith(
    some(computed),
    'computed field',
    'ShownFields-1: no input states a computed field: REST ignores it, and GraphQL refuses it',
    async (computed) => {
      const input = restBody(noun, fresh());
      const plain = await post(input);
      const other = await app().tenant();
      const stated = computed.map((name) => `,"${name}":"stated"`).join('');
      const made = await send('', { method: 'POST', body: `${input.slice(0, -1)}${stated}}` }, other);
      assert.deepEqual([made.status, { ...made.body, id: 0 }], [201, { ...plain.body, id: 0 }]);
      for (const name of computed)
        assert.equal((await doors.graphql.create(owner.token, { ...fresh(), [name]: 'stated' })).ok, false);
    },
  );

  testWith(
    some(fields.filter(({ isWriteOnly }) => isWriteOnly)),
    'writeOnly field',
    'ShownFields-2: no answer of either API has a writeOnly field',
    async (hidden) => {
      const made = await post(restBody(noun, fresh()));
      const answers = [made.body, ...(await send('')).body];
      if (hasRecordWrites) {
        const change = { method: 'PATCH', body: restBody(noun, noun.change(0)) };
        answers.push((await send(`/${made.body.id}`)).body, (await send(`/${made.body.id}`, change)).body);
      }
      for (const { name } of hidden) {
        for (const answer of answers) assert.ok(!(name in answer), `${name} is shown`);
        const query = `{ ${names.list} { nodes { ${name} } } }`;
        const { body } = await graphql(app().url, query, owner);
        assert.equal(body.data, undefined);
      }
    },
  );

  const scoped = fields.filter(({ readScope }) => readScope !== undefined);
  testWith(
    some(scoped.filter(({ name }) => given(name))),
    scoped.length > 0 ? `input(n) with ${scoped.map(({ name }) => name).join(' or ')}` : 'readScope',
    'ShownFields-3: without its scope a field is null in GraphQL and absent in REST, and with it both show it',
    async (shown) => {
      const { id } = accepted(await doors.rest.create(owner.token, fresh()));
      for (const { name, readScope } of shown) {
        const keyWith = async (wanted: typeof scopes) => {
          const key = { projectId: owner.projectId, name: 'x', scopes: wanted, expiresAtMs: null };
          return { ...owner, token: (await app().app.services.apiKeys.create(TEST_ACTOR, key)).token };
        };
        const scope = `${description.plural}:${readScope}`;
        const without = await keyWith(scopes.filter((each) => each !== scope));
        const query = `{ it: ${names.list} { nodes { id ${name} } } }`;
        for (const [by, isShown] of [
          [owner, true],
          [without, false],
        ] as const) {
          const [listed] = (await send('', {}, by)).body;
          assert.deepEqual([name, name in listed], [name, isShown]);
          const { body } = await graphql(app().url, query, by);
          assertIncludes(body.data.it.nodes, [{ id }]);
          assert.deepEqual([name, body.data.it.nodes[0][name] !== null], [name, isShown]);
        }
      }
    },
  );
};
