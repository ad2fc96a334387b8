import assert from 'node:assert/strict';
import { assertIncludes } from '../assertions.js';
import { graphql, rest } from '../http-client.js';
import { literal, restBody } from '../inputs.js';
import { accepted } from '../noun-doors.js';
import type { Tenant } from '../tested-app.js';
import type { Suite } from './suite.js';

const UNKNOWN_ID = '4503599627370496';

export const tenancy: Suite = ({ noun, doors, app, fresh, scopes: all, test, beforeAll }) => {
  const { names, filter, hasGet } = noun;
  const { list, one, create, createAll, update, remove, path } = names;
  const input = () => literal(noun, fresh());
  /** Of the foreign record with this id. */
  const inputOf = (id: string) => noun.input(7 + Math.max(0, foreignIds.indexOf(id)));
  const changes = literal(noun, noun.change(0));
  let mine: Tenant;
  let theirs: Tenant;
  let foreignIds: string[];
  /** A cursor of the other project. */
  let foreignCursor: string;

  beforeAll(async () => {
    mine = await app().tenant();
    theirs = await app().tenant();
    foreignIds = [];
    for (const at of [0, 1] as const) {
      const given = { ...noun.input(7 + at), ...noun.chosen(at) };
      foreignIds.push(accepted(await doors.rest.create(theirs.token, given, `theirs-${at}`)).id);
    }
    foreignCursor = accepted(await doors.rest.list(theirs.token, { size: 1 })).next ?? '';
  });
  const ask = (query: string, token = mine.token) => graphql(app().url, query, { token });
  const send = (url: string, init = {}) => rest(app().url, url, { token: mine.token, ...init });
  /** The cursor behind another id. */
  const cursorAt = (id: string) => {
    const text = Buffer.from(foreignCursor, 'base64url').toString();
    return Buffer.from(text.replace(foreignIds[0] ?? '', id)).toString('base64url');
  };

  const operations: Record<string, (id: string) => Promise<{ status: number; text: string }>> = {
    ...(hasGet && {
      'GET one': (id) => send(`${path}/${id}`),
      'HEAD one': (id) => send(`${path}/${id}`, { method: 'HEAD' }),
      'Query of one': (id) => ask(`{ ${one}(id: "${id}") { ${names.fields} } }`),
    }),
    'GET list with its cursor': (id) => send(`${path}?cursor=${cursorAt(id)}`),
    'Query of a list with its cursor': (id) => ask(`{ ${list}(after: "${cursorAt(id)}") { nodes { id } } }`),
    delete: (id) => ask(`mutation { ${remove}(id: "${id}") { id } }`),
    update: (id) => ask(`mutation { ${update}(id: "${id}", input: ${changes}) { id } }`),
    ...Object.fromEntries(
      noun
        .boundLists('', noun.input(7))
        .map((_, at) => [
          `Query of further list ${at + 1}`,
          (id: string) => ask(`{ ${list}(${noun.boundLists(id, inputOf(id))[at]}) { nodes { id } } }`),
        ]),
    ),
  };

  for (const [name, operation] of Object.entries(operations))
    test(`Tenancy-1: ${name} treats a foreign id as an unknown id`, async () => {
      const unknown = await operation(UNKNOWN_ID);
      for (const id of foreignIds) {
        const before = accepted(await doors.graphql.get(theirs.token, id));
        const foreign = await operation(id);
        assert.equal(foreign.status, unknown.status);
        assert.equal(foreign.text.replaceAll(id, 'ID'), unknown.text.replaceAll(UNKNOWN_ID, 'ID'));
        assert.deepEqual(accepted(await doors.graphql.get(theirs.token, id)), before);
      }
    });

  test("Tenancy-2: lists show only the project's own records", async () => {
    const empty = await app().tenant();
    for (const door of Object.values(doors)) {
      for (const query of [{}, ...(filter ? [{ choice: filter.values[0] }] : [])]) {
        const own = accepted(await door.list(empty.token, { size: 100, ...query }));
        assert.deepEqual(own, { records: [], next: null });
      }
    }
    const { body } = await ask(`{ ${list}(orderBy: NEWEST) { nodes { id } } }`, empty.token);
    assert.deepEqual(body.data[list].nodes, []);
    assert.equal(accepted(await doors.rest.list(theirs.token, {})).records.length, foreignIds.length);
  });

  test("Tenancy-3: another project's Idempotency-Key is a new key here", async () => {
    const given = fresh();
    const made = accepted(await doors.rest.create(mine.token, given, 'theirs-0'));
    assertIncludes(made, noun.shown(given));
    assert.ok(!foreignIds.includes(made.id));
  });

  test('Tenancy-4: a project in the input is ignored', async () => {
    const body = restBody(noun, { ...fresh(), projectId: 1, project_id: 1 });
    const made = await send(`${path}?projectId=1`, { method: 'POST', body });
    assert.ok((await doors.rest.get(mine.token, String(made.body.id))).ok);
  });

  test('Tenancy-5: ids do not reveal how many records other projects add in between', async () => {
    const busy = await app().tenant();
    const add = async (token: string) => Number(accepted(await doors.rest.create(token, fresh())).id);
    const gaps: number[] = [];
    for (let round = 0; round < 8; round += 1) {
      app().clock.now += 1_000;
      const first = await add(mine.token);
      for (let other = 0; other < round; other += 1) await add(busy.token);
      app().clock.now += 1_000;
      gaps.push((await add(mine.token)) - first);
    }
    // With a shared counter the gaps would be 1, 2, 3…; here each gap is a second, plus or minus a random part.
    for (const gap of gaps) assert.ok(Math.abs(gap - 1_000 * 4_096) < 4_096);
  });

  test('Auth-3: both doors enforce the scopes: each operation needs its own, and no other scope replaces it', async () => {
    const given = fresh();
    const { id } = accepted(await doors.rest.create(mine.token, given));
    const { apiKeys } = app().app.services;
    const keyWithout = async (missing: string) => {
      const scopes = all.filter((scope) => scope !== missing);
      const wanted = { projectId: mine.projectId, name: 'x', scopes, expiresAtMs: null };
      return (await apiKeys.create({ name: 'test', requestId: null }, wanted)).token;
    };
    const [reader, writer] = [await keyWithout(names.writeScope), await keyWithout(names.readScope)];
    const writes = [
      `mutation { it: ${createAll}(inputs: [${input()}]) { id } }`,
      `mutation { it: ${update}(id: "${id}", input: ${changes}) { id } }`,
      `mutation { it: ${remove}(id: "${id}") { id } }`,
    ];
    const forbidden = { ok: false, code: 'forbidden', status: 403 };
    for (const door of Object.values(doors)) {
      assertIncludes(await door.create(reader, noun.input(1)), forbidden);
      assert.equal(accepted(await door.get(reader, id)).id, id);
      assert.ok(accepted(await door.list(reader, { size: 100 })).records.length > 0);
      assertIncludes(await door.get(writer, id), forbidden);
      assertIncludes(await door.list(writer, {}), forbidden);
      assert.equal((await door.create(writer, fresh())).ok, true);
    }
    for (const query of writes) {
      assert.equal((await ask(query, reader)).body.errors[0].extensions.code, 'FORBIDDEN');
    }
    assertIncludes(accepted(await doors.rest.get(reader, id)), noun.shown(given));
    for (const query of writes) assert.equal((await ask(query, writer)).body.errors, undefined);
  });

  test('Tenancy-8: a key that is created with the scope of the noun reads its records', async () => {
    const query = `mutation { createApiKey(input: {name: "reader", scopes: [${names.readScopeName}]}) { token } }`;
    const { token } = (await ask(query)).body.data.createApiKey;
    assert.equal((await doors.graphql.list(token, {})).ok, true);
    const refused = await ask(`mutation { ${create}(input: ${input()}) { id } }`, token);
    assert.equal(refused.body.errors[0].extensions.code, 'FORBIDDEN');
  });
};
