import { beforeAll, expect, test } from '@jest/globals';
import { graphql } from '../../support/http/client.js';
import {
  accepted,
  type Door,
  doorsOf,
  type ListQuery,
  type Outcome,
  type SharedPage,
} from '../../support/nouns/noun-doors.js';
import type { Values } from '../../support/nouns/test-noun.js';
import type { Tenant } from '../../support/start-app.js';
import type { Suite } from '../suites.js';

export const parity: Suite = (noun, names, app, fresh) => {
  const doors = doorsOf(noun, names, () => app().url);
  const {
    field,
    values: [choice, other],
  } = noun.filter;
  let tenant: Tenant;
  const ids: string[] = [];

  beforeAll(async () => {
    tenant = await app().tenant();
    for (let at = 0; at < 7; at += 1) {
      const input = { ...noun.input(at), ...(at % 2 ? { [field]: choice } : {}) };
      ids.push(accepted(await doors.rest.create(tenant.token, input)).id);
    }
  });

  async function both<Value>(ask: (door: Door) => Promise<Outcome<Value>>): Promise<Outcome<Value>> {
    const [atRest, atGraphql] = [await ask(doors.rest), await ask(doors.graphql)];
    expect(atGraphql).toEqual(atRest);
    return atRest;
  }
  const run = async (query: string, { token } = tenant) => {
    const { body } = await graphql(app().url, query, { token });
    expect(body.errors).toBeUndefined();
    return body.data.it;
  };

  test('Parity-1: both doors give the same lists, page by page, with the same cursors', async () => {
    for (const [wanted, pages] of [
      [{}, 4],
      [{ choice }, 2],
      [{ choice: other }, 1],
    ] as const) {
      let cursor: string | null = null;
      for (let read = 1; read <= pages; read += 1) {
        expect(read === 1).toBe(cursor === null);
        const query: ListQuery = { size: 2, ...wanted, ...(cursor === null ? {} : { cursor }) };
        const page: SharedPage = accepted(await both((door) => door.list(tenant.token, query)));
        cursor = page.next;
      }
      expect(cursor).toBeNull();
    }
  });

  test('Parity-2: both doors give the same record, and refuse unknown ids alike', async () => {
    for (const id of ids) expect((await both((door) => door.get(tenant.token, id))).ok).toBe(true);
    for (const id of ['1', 'abc', '-5', '9223372036854775808']) {
      const refused = await both((door) => door.get(tenant.token, id));
      expect(refused).toMatchObject({ ok: false, code: 'not_found', status: 404 });
    }
  });

  test.each(noun.invalid)('Parity-4: both doors refuse %j alike, and name %j', async (difference, fields) => {
    const refused = await both((door) => door.create(tenant.token, { ...noun.input(0), ...difference }));
    expect(refused).toMatchObject({ ok: false, code: 'invalid_request', status: 400, fields });
  });

  test('Parity-5: both doors refuse page sizes and cursors alike', async () => {
    for (const query of [{ size: 0 }, { size: 101 }, { cursor: 'x' }, { size: 0, cursor: 'x' }]) {
      expect((await both((door) => door.list(tenant.token, query))).ok).toBe(false);
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
        expect((await both<unknown>(ask)).ok).toBe(false);
      }
    }
  });

  test('Parity-7: both doors treat an Idempotency-Key alike', async () => {
    const create = (input: Values, key: string) => both((door) => door.create(tenant.token, input, key));
    expect((await create(fresh(), 'parity')).ok).toBe(true);
    expect(await create(fresh(), 'parity')).toMatchObject({ code: 'idempotency_mismatch' });
    expect(await create(fresh(), '')).toMatchObject({ code: 'invalid_request' });
  });

  test('Parity-9: a record that GraphQL deleted is unknown at both doors', async () => {
    const { id } = accepted(await doors.rest.create(tenant.token, fresh()));
    const shown = await both((door) => door.list(tenant.token, { size: 100 }));
    expect(JSON.stringify(shown)).toContain(id);
    await run(`mutation { it: ${names.remove}(id: "${id}") { id } }`);
    const list = await both((door) => door.list(tenant.token, { size: 100 }));
    expect(JSON.stringify(list)).not.toContain(id);
    expect((await both((door) => door.get(tenant.token, id))).ok).toBe(false);
  });

  test('Parity-11: a record that GraphQL changed has its new values at both doors, and its other values stay', async () => {
    const made = accepted(await doors.rest.create(tenant.token, { ...fresh(), [field]: choice }));
    await both((door) => door.get(tenant.token, made.id));
    const variables = { id: made.id, input: noun.change(1) };
    const query = `mutation($id: ID!, $input: ${names.changes}!) { it: ${names.update}(id: $id, input: $input) { ${names.fields} } }`;
    const { body } = await graphql(app().url, query, { token: tenant.token, variables });
    const changed = { ...made, ...noun.change(1) };
    expect(body.data.it).toEqual(changed);
    expect(changed).not.toEqual(made);
    expect(accepted(await both((door) => door.get(tenant.token, made.id)))).toEqual(changed);
  });

  test("Parity-10: both doors refuse the cursors of GraphQL's other lists alike", async () => {
    const others = [
      'orderBy: NEWEST',
      `orderBy: NEWEST, ${field}: ${choice}`,
      ...noun.boundLists(ids[0] ?? '', noun.input(0)),
    ];
    for (const args of others) {
      const page = await run(`{ it: ${names.list}(first: 1, ${args}) { pageInfo { endCursor } } }`);
      for (const wanted of [{}, { choice }]) {
        const cursor = page.pageInfo.endCursor;
        const refused = await both((door) => door.list(tenant.token, { cursor, ...wanted }));
        expect(refused).toMatchObject({ ok: false, status: 400, fields: ['cursor'] });
      }
    }
  });
};
