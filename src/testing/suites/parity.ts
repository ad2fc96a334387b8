import assert from 'node:assert/strict';
import { assertIncludes } from '../assertions.js';
import { graphql } from '../http-client.js';
import type { Values } from '../inputs.js';
import { accepted, type Door, type ListQuery, type Outcome, type SharedPage } from '../noun-doors.js';
import type { Tenant } from '../tested-app.js';
import type { Suite } from './suite.js';

export const parity: Suite = ({ noun, doors, app, fresh, test, testWith, beforeAll }) => {
  const { names, filter, hasGet } = noun;
  let tenant: Tenant;
  const ids: string[] = [];

  beforeAll(async () => {
    tenant = await app().tenant();
    for (let at = 0; at < 7; at += 1) {
      const input = { ...noun.input(at), ...(at % 2 ? noun.chosen(0) : {}) };
      ids.push(accepted(await doors.rest.create(tenant.token, input)).id);
    }
  });

  async function both<Value>(ask: (door: Door) => Promise<Outcome<Value>>): Promise<Outcome<Value>> {
    const [atRest, atGraphql] = [await ask(doors.rest), await ask(doors.graphql)];
    assert.deepEqual(atGraphql, atRest);
    return atRest;
  }
  const run = async (query: string, { token } = tenant) => {
    const { body } = await graphql(app().url, query, { token });
    assert.equal(body.errors, undefined);
    return body.data.it;
  };

  test('Parity-1: both doors give the same lists, page by page, with the same cursors', async () => {
    const [choice, other] = filter?.values ?? [];
    for (const [wanted, pages] of [
      [{}, 4],
      ...(choice && other
        ? [[{ choice }, 2] as const, [{ choice: other }, other === filter?.usual ? 2 : 1] as const]
        : []),
    ] as const) {
      let cursor: string | null = null;
      for (let read = 1; read <= pages; read += 1) {
        assert.equal(read === 1, cursor === null);
        const query: ListQuery = { size: 2, ...wanted, ...(cursor === null ? {} : { cursor }) };
        const page: SharedPage = accepted(await both((door) => door.list(tenant.token, query)));
        cursor = page.next;
      }
      assert.equal(cursor, null);
    }
  });

  testWith(
    hasGet || null,
    'way to read one record',
    'Parity-2: both doors give the same record, and refuse unknown ids alike',
    async () => {
      for (const id of ids) assert.equal((await both((door) => door.get(tenant.token, id))).ok, true);
      for (const id of ['1', 'abc', '-5', '9223372036854775808']) {
        const refused = await both((door) => door.get(tenant.token, id));
        assertIncludes(refused, { ok: false, code: 'not_found', status: 404 });
      }
    },
  );

  for (const [difference, fields] of noun.invalid)
    test(`Parity-4: both doors refuse ${JSON.stringify(difference)} alike, and name ${JSON.stringify(fields)}`, async () => {
      const refused = await both((door) => door.create(tenant.token, { ...noun.input(0), ...difference }));
      assertIncludes(refused, { ok: false, code: 'invalid_request', status: 400, fields });
    });

  test('Parity-5: both doors refuse page sizes and cursors alike', async () => {
    for (const query of [{ size: 0 }, { size: 101 }, { cursor: 'x' }, { size: 0, cursor: 'x' }]) {
      assert.equal((await both((door) => door.list(tenant.token, query))).ok, false);
    }
  });

  test('Parity-6: both doors refuse callers alike', async () => {
    const { token } = await app().tenant({ scopes: [] });
    for (const caller of [null, 'pk_wrong', token]) {
      for (const ask of [
        (door: Door) => door.list(caller, {}),
        (door: Door) => door.get(caller, ids[0] ?? ''),
        (door: Door) => door.create(caller, noun.input(0)),
      ]) {
        assert.equal((await both<unknown>(ask)).ok, false);
      }
    }
  });

  test('Parity-7: both doors treat an Idempotency-Key alike', async () => {
    const create = (input: Values, key: string) => both((door) => door.create(tenant.token, input, key));
    assert.equal((await create(fresh(), 'parity')).ok, true);
    assertIncludes(await create(fresh(), 'parity'), { code: 'idempotency_mismatch' });
    assertIncludes(await create(fresh(), ''), { code: 'invalid_request' });
  });

  test('Parity-9: a record that GraphQL deleted is unknown at both doors', async () => {
    const { id } = accepted(await doors.rest.create(tenant.token, fresh()));
    const shown = await both((door) => door.list(tenant.token, { size: 100 }));
    assert.ok(JSON.stringify(shown).includes(id));
    await run(`mutation { it: ${names.remove}(id: "${id}") { id } }`);
    const list = await both((door) => door.list(tenant.token, { size: 100 }));
    assert.ok(!JSON.stringify(list).includes(id));
    assert.equal((await both((door) => door.get(tenant.token, id))).ok, false);
  });

  test('Parity-11: a record that GraphQL changed has its new values at both doors, and its other values stay', async () => {
    const made = accepted(await doors.rest.create(tenant.token, { ...fresh(), ...noun.chosen(0) }));
    await both((door) => door.get(tenant.token, made.id));
    const variables = { id: made.id, input: noun.change(1) };
    const query = `mutation($id: ID!, $input: ${names.changes}!) { it: ${names.update}(id: $id, input: $input) { ${names.fields} } }`;
    const { body } = await graphql(app().url, query, { token: tenant.token, variables });
    // They may follow from the changed values.
    const computed = noun.computed.map((name) => [name, body.data.it[name]]);
    const changed = { ...made, ...noun.shown(noun.change(1)), ...Object.fromEntries(computed) };
    assert.deepEqual(body.data.it, changed);
    assert.notDeepEqual(changed, made);
    assert.deepEqual(accepted(await both((door) => door.get(tenant.token, made.id))), changed);
  });

  test("Parity-10: both doors refuse the cursors of GraphQL's other lists alike", async () => {
    const others = [
      'orderBy: NEWEST',
      ...(filter ? [`orderBy: NEWEST, ${filter.field}: ${filter.values[0]}`] : []),
      ...noun.boundLists(ids[0] ?? '', noun.input(0)),
    ];
    for (const args of others) {
      const page = await run(`{ it: ${names.list}(first: 1, ${args}) { pageInfo { endCursor } } }`);
      for (const wanted of [{}, ...(filter ? [{ choice: filter.values[0] }] : [])]) {
        const cursor = page.pageInfo.endCursor;
        const refused = await both((door) => door.list(tenant.token, { cursor, ...wanted }));
        assertIncludes(refused, { ok: false, status: 400, fields: ['cursor'] });
      }
    }
  });
};
