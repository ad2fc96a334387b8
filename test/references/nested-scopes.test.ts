import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Scope } from '../../src/ground/kernel/caller.js';
import { openLog } from '../support/changes/changes.js';
import { openStream } from '../support/changes/stream-client.js';
import { databaseKinds } from '../support/databases.js';
import { graphql } from '../support/http/client.js';
import {
  type Stores,
  type StoresTenant,
  startStores,
  warehouseInputs,
} from '../support/references/stores.js';
import { TEST_ACTOR } from '../support/start-app.js';

const NESTED = '{ crates(first: 2) { nodes { code warehouse { name } } } }';
const LISTED = '{ warehouses(first: 1) { nodes { crates { nodes { code } } } } }';
const FULL = ' fragment Full on Crate { warehouse { name } }';
const INPUT = 'input: {code: "New"}';

describe.each(databaseKinds())('on %s', (kind) => {
  let stores: Stores;
  let owner: StoresTenant;
  let warehouse: string;
  let crate: string;
  let ofCrates: string;
  let ofWarehouses: string;

  beforeAll(async () => {
    stores = await startStores(kind);
    owner = await stores.tenant();
    [warehouse = ''] = await owner.create('warehouse', warehouseInputs(1));
    [crate = ''] = await owner.create('crate', [{ code: 'C1', warehouseId: warehouse }]);
    await openLog(stores.app, owner);
    ofCrates = await keyWith('crates:read', 'crates:write');
    ofWarehouses = await keyWith('warehouses:read', 'warehouses:write');
  });
  afterAll(() => stores.app.stop());

  async function keyWith(...scopes: Scope[]): Promise<string> {
    const wanted = { projectId: owner.projectId, name: 'x', scopes, expiresAtMs: null };
    return (await stores.app.app.services.apiKeys.create(TEST_ACTOR, wanted)).token;
  }
  const ask = (token: string, query: string, init = {}) => graphql(stores.app.url, query, { token, ...init });

  /** The answer is a refusal of the whole request, and no statement was sent to a table of the nouns. */
  async function expectRefused(asked: () => ReturnType<typeof ask>, scope: Scope): Promise<void> {
    stores.statements.length = 0;
    const { status, body } = await asked();
    expect([status, body.data]).toEqual([403, undefined]);
    const message = `This API key lacks the scope ${scope}. Use a key that has it.`;
    expect(body.errors).toEqual([{ message, extensions: { code: 'FORBIDDEN', status: 403 } }]);
    expect(stores.statements).toEqual([]);
  }

  test('Reference-25: a query with nested records is refused before it is executed without the scope of their noun', async () => {
    await expectRefused(() => ask(ofCrates, NESTED), 'warehouses:read');
    await expectRefused(() => ask(ofWarehouses, LISTED), 'crates:read');
    // Known, compiled and kept for another key; and without a record that would show the refusal.
    const empty = NESTED.replace('first: 2', `first: 2, warehouseId: "1"`);
    for (const query of [NESTED, empty]) {
      for (let times = 0; times < 4; times += 1) expect((await ask(owner.token, query)).status).toBe(200);
      await expectRefused(() => ask(ofCrates, query), 'warehouses:read');
    }
  });

  test('NestedScope-1: a mutation is refused so, and leaves no record, no change and no Idempotency-Key', async () => {
    const read = async () => {
      const { data } = await owner.ask(
        '{ crates { changesCursor nodes { id code } } warehouses { changesCursor nodes { id name } } }',
      );
      return data;
    };
    const before = await read();
    const headers = { 'idempotency-key': 'nested-scope' };
    const mutations = [
      `createCrate(${INPUT}) { id warehouse { name } }`,
      `createCrate(${INPUT}) { id ...Full }`,
      `first: createCrate(${INPUT}) { id } second: createCrate(${INPUT}) { ... { warehouse { id } } }`,
      `createCrates(inputs: [{code: "New"}]) { id warehouse { name } }`,
      `updateCrate(id: "${crate}", ${INPUT}) { code warehouse { name } }`,
    ].map((root) => `mutation { ${root} }${root.includes('Full') ? FULL : ''}`);
    for (const mutation of mutations)
      await expectRefused(() => ask(ofCrates, mutation, { headers }), 'warehouses:read');
    const renamed = `mutation { updateWarehouse(id: "${warehouse}", input: {name: "New"}) { crates { nodes { id } } } }`;
    await expectRefused(() => ask(ofWarehouses, renamed, { headers }), 'crates:read');
    expect(await read()).toEqual(before);

    // Another request may have the key.
    const other = await ask(ofCrates, `mutation { createCrate(${INPUT}) { id code } }`, { headers });
    expect(other.headers.get('idempotent-replayed')).toBeNull();
    expect(other.body.data.createCrate.code).toBe('New');
    const both = await ask(owner.token, mutations[0] as string);
    expect(both.body.data.createCrate.warehouse).toBeNull();
  });

  test('NestedScope-2: so are changes and a stream of them', async () => {
    const changes = '{ crateChanges { nodes { crate { warehouse { name } } } } }';
    await expectRefused(() => ask(ofCrates, changes), 'warehouses:read');
    const query = 'subscription { crateChanges { crate { warehouse { name } } } }';
    const refused = await openStream(stores.app.url, { token: ofCrates, query });
    expect([refused.status, refused.headers.get('content-type')]).toEqual([
      403,
      expect.stringContaining('json'),
    ]);
    const opened = await openStream(stores.app.url, { token: owner.token, query });
    expect(opened.headers.get('content-type')).toContain('text/event-stream');
    opened.close();
  });

  test('NestedScope-3: what a directive leaves out needs no scope, in the document or by a variable', async () => {
    const query = `query ($named: Boolean = false, $bare: Boolean!) { crates(first: 1) { nodes { code warehouse @include(if: $named) { name } ...Full @skip(if: $bare) ... @include(if: false) { warehouse { city } } } } }${FULL}`;
    const asked = (variables: object) => ask(ofCrates, query, { variables });
    for (let times = 0; times < 3; times += 1) {
      expect((await asked({ bare: true })).body).toEqual({ data: { crates: { nodes: [{ code: 'C1' }] } } });
    }
    await expectRefused(() => asked({ bare: true, named: true }), 'warehouses:read');
    await expectRefused(() => asked({ bare: false }), 'warehouses:read');
  });

  test('NestedScope-4: a refused operation costs what it would have cost', async () => {
    const costOf = async (query: string) => {
      const remaining = async () =>
        (await ask(ofCrates, '{ rateLimit { minute { remaining } } }')).body.data.rateLimit.minute.remaining;
      const before = await remaining();
      await ask(ofCrates, query);
      return before - (await remaining());
    };
    expect(await costOf(NESTED)).toBe(1);
    const two = `mutation { a: createCrate(${INPUT}) { id } b: createCrate(${INPUT}) { warehouse { id } } }`;
    expect(await costOf(two)).toBe(2);
  });
});
