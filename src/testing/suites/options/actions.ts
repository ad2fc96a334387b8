import assert from 'node:assert/strict';
import { assertContains, assertIncludes } from '../../assertions.js';
import { type Answer, graphql, rest } from '../../http-client.js';
import { literal, restBody, type Values } from '../../inputs.js';
import { accepted, type Door } from '../../noun-doors.js';
import type { TestedAction } from '../../tested-actions.js';
import { TEST_ACTOR, type Tenant } from '../../tested-app.js';
import type { Suite, SuiteParts } from '../suite.js';

/** A log opens so long after it was switched on. */
const OPENING_MS = 15_000;
const UNKNOWN_ID = '4503599627370496';
const FIRST = 'Acting-1: both APIs do the action alike, and answer with the record as it then is';
const FORBIDDEN = { ok: false, code: 'forbidden', status: 403 };

/** The promises of the platform about every action. */
export const actions: Suite = (parts) => {
  const { noun, describe, testWith } = parts;
  for (const action of noun.actions) describe(action.name, () => actionSuite(parts, action));
  if (noun.actions.length === 0) testWith(null, 'action', FIRST, () => {});
};

function actionSuite(parts: SuiteParts, action: TestedAction): void {
  const { noun, doors, app, scopes, fresh, testWith, beforeEach } = parts;
  const { names, hasRecordWrites } = noun;
  const { input = {}, record = {} } = action.accepted ?? {};
  let owner: Tenant;
  beforeEach(async () => {
    owner = await app().tenant();
  });
  const create = async (values: Values = record, { token } = owner) =>
    accepted(await doors.graphql.create(token, { ...fresh(), ...values })).id;
  const get = async (id: string, { token } = owner) => accepted(await doors.graphql.get(token, id));
  const act = (door: Door, id: string, given = input, { token } = owner, idempotencyKey?: string) =>
    door.act(token, action, { id, input: given, ...(idempotencyKey !== undefined && { idempotencyKey }) });
  const post = (id: string, init: object = {}, { token } = owner) => {
    const body = action.inputType === null ? {} : { body: restBody(action, input) };
    return rest(app().url, `${names.path}/${id}/${action.name}`, { method: 'POST', token, ...body, ...init });
  };
  const ask = (query: string, { token } = owner) => graphql(app().url, query, { token });
  const keyWith = async (wanted: typeof scopes): Promise<Tenant> => {
    const key = { projectId: owner.projectId, name: 'x', scopes: wanted, expiresAtMs: null };
    return { ...owner, token: (await app().app.services.apiKeys.create(TEST_ACTOR, key)).token };
  };
  const tagOf = async (id: string) =>
    (await rest(app().url, `${names.path}/${id}`, owner)).headers.get('etag') ?? '';
  const withInput = `\`actions.${action.name}.input\` in its test file`;
  const testOf = (name: string, body: () => Promise<void>) =>
    testWith(action.accepted, withInput, name, body);
  const hasFields = action.fields.length > 0;
  /** Calls for a record through each door, and it must be as before. */
  const unchanged = async (id: string, attempt: (door: Door) => Promise<void>, by = owner) => {
    const before = await get(id, by);
    for (const door of Object.values(doors)) await attempt(door);
    assert.deepEqual(await get(id, by), before);
  };

  testOf(FIRST, async () => {
    const given = { ...fresh(), ...record };
    const made = [];
    for (const door of Object.values(doors)) {
      const tenant = await app().tenant();
      const { id } = accepted(await door.create(tenant.token, given));
      const done = accepted(await act(door, id, input, tenant));
      assert.deepEqual(done, await get(id, tenant));
      made.push({ ...done, id: '' });
    }
    assert.deepEqual(made[0], made[1]);
  });

  testOf(
    'Acting-2: a repeated Idempotency-Key does nothing, at both doors, and answers as the first request',
    async () => {
      for (const [key, first] of Object.entries(doors)) {
        const [id, other] = [await create(), await create()];
        const done = accepted(await act(first, id, input, owner, key));
        // Of an action that writes the time.
        app().clock.now += 1;
        for (const door of Object.values(doors)) {
          assert.deepEqual(accepted(await act(door, id, input, owner, key)), done);
          const mismatch = await act(door, other, input, owner, key);
          assertIncludes(mismatch, { code: 'idempotency_mismatch', status: 422 });
        }
        assert.deepEqual(await get(id), done);
      }
    },
  );

  testWith(
    hasFields && action.accepted ? action : null,
    hasFields ? withInput : 'input for this action',
    'Acting-3: both APIs refuse an input that is not valid, by the names of its fields, and nothing is changed',
    async ({ fields, invalid }) => {
      const id = await create();
      for (const [difference, wrong] of invalid) {
        await unchanged(id, async (door) => {
          const refused = await act(door, id, { ...input, ...difference });
          assertIncludes(
            [difference, refused],
            [difference, { code: 'invalid_request', status: 400, fields: wrong }],
          );
        });
      }
      for (const { name } of fields.filter(({ isRequired }) => isRequired)) {
        const { [name]: _, ...others } = input;
        await unchanged(id, async (door) => assert.equal((await act(door, id, others)).ok, false));
        assertIncludes(await act(doors.rest, id, others), { status: 400, fields: [name] });
      }
      // REST ignores a field that it does not know.
      await unchanged(id, async () => {
        assert.equal((await act(doors.graphql, id, { ...input, unknown: 1 })).ok, false);
      });
      assertIncludes(await post(id, { body: '[]' }), { status: 400, body: { errors: [{ field: 'body' }] } });
      assert.equal((await act(doors.rest, id, { ...input, unknown: 1 })).ok, true);
    },
  );

  testWith(
    action.refused,
    `\`actions.${action.name}.refused\` in its test file`,
    'Acting-4: both APIs give the refusal of its function alike, and nothing is changed',
    async (refused) => {
      const id = await create(refused.record);
      const answers: unknown[] = [];
      await unchanged(id, async (door) => {
        const answer = await act(door, id, refused.input, owner, 'refused');
        assert.ok(
          !answer.ok && ['conflict', 'invalid_request'].includes(answer.code),
          JSON.stringify(answer),
        );
        answers.push(answer);
      });
      assert.deepEqual(answers[0], answers[1]);
    },
  );

  testWith(
    hasRecordWrites ? action.accepted : null,
    hasRecordWrites ? withInput : 'usual get',
    'Acting-5: with If-Match it is done only to the record as it was read, and answers with the new ETag',
    async () => {
      const id = await create();
      const old = await tagOf(id);
      const change = { method: 'PATCH', token: owner.token, body: restBody(noun, noun.change(0)) };
      assert.equal((await rest(app().url, `${names.path}/${id}`, change)).status, 200);
      const before = await get(id);
      const refused = await post(id, { headers: { 'if-match': old } });
      assert.deepEqual([refused.status, refused.body.code], [412, 'precondition_failed']);
      assert.deepEqual(await get(id), before);
      const done = await post(id, { headers: { 'if-match': await tagOf(id) } });
      assert.deepEqual([done.status, done.headers.get('etag')], [200, await tagOf(id)]);
    },
  );

  testOf(
    'Acting-6: a key with the scope of the action alone does it, sees no record, and does nothing else',
    async () => {
      const only = await keyWith([action.scope]);
      const id = await create();
      const given = action.inputType === null ? '' : `, input: ${literal(action, input)}`;
      const mutation = (of: string, selection: string) =>
        `mutation { it: ${action.operation}(id: "${of}"${given}) { ${selection} } }`;
      const mutations = [
        `mutation { ${names.createAll}(inputs: [${literal(noun, fresh())}]) { id } }`,
        `mutation { ${names.update}(id: "${id}", input: ${literal(noun, noun.change(0))}) { id } }`,
        `mutation { ${names.remove}(id: "${id}") { id } }`,
      ];
      await unchanged(id, async (door) => {
        assertIncludes(await door.get(only.token, id), FORBIDDEN);
        assertIncludes(await door.list(only.token, {}), FORBIDDEN);
        assertIncludes(await door.create(only.token, fresh()), FORBIDDEN);
        for (const other of noun.actions) {
          if (other === action || !other.accepted) continue;
          assertIncludes(await door.act(only.token, other, { id, input: other.accepted.input }), FORBIDDEN);
        }
        // The last one answers with more than the key may read.
        for (const query of [...mutations, mutation(id, 'id createdAt')]) {
          const { body } = await ask(query, only);
          assert.deepEqual([query, body.errors?.[0].extensions.code], [query, 'FORBIDDEN']);
        }
      });
      const hidden = await post(id, {}, only);
      assert.deepEqual([hidden.status, hidden.text], [204, '']);
      const other = await create();
      const { body } = await ask(mutation(other, 'id'), only);
      assert.deepEqual(body, { data: { it: { id: other } } });
    },
  );

  testOf('Acting-7: no other scope replaces its own', async () => {
    const without = await keyWith(scopes.filter((scope) => scope !== action.scope));
    const id = await create();
    await unchanged(id, async (door) => assertIncludes(await act(door, id, input, without), FORBIDDEN));
  });

  testOf('Acting-8: a record of another project is as unknown as one that does not exist', async () => {
    const theirs = await app().tenant();
    const id = await create(record, theirs);
    const attempt = async (door: Door) => {
      const unknown = { ok: false, code: 'not_found', status: 404 };
      for (const each of [id, UNKNOWN_ID, 'abc']) assertIncludes(await act(door, each), unknown);
    };
    await unchanged(id, attempt, theirs);
    const texts = [await post(id), await post(UNKNOWN_ID)].map(({ text }: Answer<unknown>, at) =>
      text.replaceAll([id, UNKNOWN_ID][at] ?? '', 'ID'),
    );
    assert.equal(texts[0], texts[1]);
  });

  testWith(
    noun.description.hasChanges ? action.accepted : null,
    noun.description.hasChanges ? withInput : 'change log',
    'Acting-9: the change log has each act once, as a change of the record, and no refused or repeated one',
    async () => {
      await app().app.services.projects.change(TEST_ACTOR, owner.slug, { isLogged: true });
      app().clock.now += OPENING_MS;
      for (const [key, door] of Object.entries(doors)) {
        const id = await create();
        accepted(await act(door, id, input, owner, key));
        accepted(await act(door, id, input, owner, key));
        assert.equal((await act(door, UNKNOWN_ID, input)).ok, false);
        const changes = (await rest(app().url, `${names.path}/changes`, owner)).body.slice(-2);
        const shown = changes.map((change: Record<string, { id: unknown }>) => [
          change.kind,
          String(change[noun.description.singular]?.id),
        ]);
        assert.deepEqual(shown, [
          ['created', id],
          ['updated', id],
        ]);
      }
      assert.equal((await rest(app().url, `${names.path}/changes`, owner)).body.length, 4);
    },
  );

  testOf(
    'Acting-10: it costs one unit, and a project may do it 300 times a minute through GraphQL',
    async () => {
      const standing = async () => (await rest(app().url, '/v1/rate_limit', owner)).body.day.remaining;
      const ids = [await create(), await create()];
      const before = await standing();
      for (const [at, door] of Object.values(doors).entries()) accepted(await act(door, ids[at] ?? ''));
      assert.equal(before - (await standing()), 2);
      const { body } = await ask('{ rateLimit { fields { field limit remaining } } }');
      assertContains(body.data.rateLimit.fields, {
        field: `Mutation.${action.operation}`,
        limit: 300,
        remaining: 299,
      });
    },
  );
}
