import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { databaseKinds } from '../support/databases.js';
import { graphql, rest } from '../support/http/client.js';
import {
  type Stores,
  type StoresTenant,
  startStores,
  warehouseInputs,
} from '../support/references/stores.js';

const CRATES = 'crates(first: 100) { nodes';
/** The cost of the first is within the bound. */
const PAGE = `{ ${CRATES} { warehouse { name crates(first: 20) { nodes { code } } } } } }`;

describe.each(databaseKinds())('on %s', (kind) => {
  let stores: Stores;
  let owner: StoresTenant;
  let warehouses: string[];

  beforeAll(async () => {
    stores = await startStores(kind);
    owner = await stores.tenant();
    warehouses = await owner.create('warehouse', warehouseInputs(100));
    const inputs = Array.from({ length: 300 }, (_, at) => ({
      code: `C${at}`,
      warehouseId: warehouses[at % 10],
    }));
    // The first page refers to a hundred warehouses.
    await owner.create('crate', [
      ...warehouses.map((warehouseId, at) => ({ code: `F${at}`, warehouseId })),
      ...inputs,
    ]);
  });
  afterAll(() => stores.app.stop());

  test('Reference-21: a page with its records and their lists is three statements, whatever it has', async () => {
    stores.statements.length = 0;
    const { data, errors } = await owner.ask(PAGE);
    expect(errors).toBeUndefined();
    expect(stores.statements).toHaveLength(3);
    expect(data.crates.nodes).toHaveLength(100);
    for (const [at, { warehouse }] of data.crates.nodes.entries()) {
      expect(warehouse.name).toBe(`North ${at}`);
      const newest = Array.from({ length: 20 }, (_, back) => `C${290 + at - 10 * back}`);
      const codes = warehouse.crates.nodes.map(({ code }: { code: string }) => code);
      expect(codes).toEqual(at < 10 ? newest : [`F${at}`]);
    }
  });

  test('Reference-22: so is one with several lists of each record, and a compiled one', async () => {
    const query = `{ warehouses(first: 100) { nodes { crates(first: 1) { nodes { code } } old: crates(first: 2, orderBy: OLDEST) { nodes { code } pageInfo { hasNextPage } } } } }`;
    for (let time = 0; time < 3; time += 1) {
      stores.statements.length = 0;
      const { data } = await owner.ask(`${query} #${Math.floor(time / 2)}`);
      // The version of the data is older than a moment on a busy machine, and then the third one is read too.
      if (time < 2) expect(stores.statements).toHaveLength(2);
      expect(data.warehouses.nodes[3]).toEqual({
        crates: { nodes: [{ code: 'C293' }] },
        old: { nodes: [{ code: 'F3' }, { code: 'C3' }], pageInfo: { hasNextPage: true } },
      });
      expect(data.warehouses.nodes[12].old).toEqual({
        nodes: [{ code: 'F12' }],
        pageInfo: { hasNextPage: false },
      });
    }
  });

  test('Reference-23: a list of a record has the pages and cursors of the filtered list', async () => {
    const id = warehouses[4];
    const page = '{ nodes { code } pageInfo { endCursor hasNextPage hasPreviousPage } }';
    const query = `query ($id: ID!, $after: String) {
      warehouse(id: $id) { crates(first: 7, after: $after) ${page} }
      crates(first: 7, after: $after, orderBy: NEWEST, warehouseId: $id) ${page}
    }`;
    const codes: string[] = [];
    let after: string | null = null;
    do {
      const { data, errors } = await owner.ask(query, { id, after });
      expect(errors).toBeUndefined();
      expect(data.warehouse.crates).toEqual(data.crates);
      codes.push(...data.crates.nodes.map(({ code }: { code: string }) => code));
      after = data.crates.pageInfo.hasNextPage ? data.crates.pageInfo.endCursor : null;
    } while (after !== null);
    expect(codes).toEqual([...Array.from({ length: 30 }, (_, at) => `C${294 - 10 * at}`), 'F4']);

    const first = await owner.ask(query, { id });
    const cursor = first.data.crates.pageInfo.endCursor;
    const others = await owner.ask(
      `{ warehouses(first: 6) { nodes { crates(after: "${cursor}") { nodes { code } } } } }`,
    );
    const allowed = others.data.warehouses.nodes.map(({ crates }: { crates: unknown }) => crates !== null);
    expect(allowed).toEqual([false, false, false, false, true, false]);
    expect(others.errors).toHaveLength(5);
    expect(others.errors[0]).toMatchObject({
      path: ['warehouses', 'nodes', 0, 'crates'],
      extensions: { code: 'INVALID_REQUEST', errors: [{ field: 'after' }] },
    });
  });

  test('Reference-24: a reference to no record, or to one of another project, is null', async () => {
    const other = await stores.tenant();
    const [foreign] = await other.create('warehouse', warehouseInputs(1));
    const inputs = [foreign, '1', '9223372036854775807', '-9223372036854775808', null];
    const tenant = await stores.tenant();
    await tenant.create(
      'crate',
      inputs.map((warehouseId, at) => ({ code: `X${at}`, warehouseId })),
    );
    const { data } = await tenant.ask(`{ ${CRATES} { warehouseId warehouse { name } } } }`);
    expect(data.crates.nodes).toEqual(inputs.map((warehouseId) => ({ warehouseId, warehouse: null })));
    // Neither does its owner see the crate.
    const seen = await other.ask('{ warehouses { nodes { crates { nodes { code } } } } }');
    expect(seen.data.warehouses.nodes).toEqual([{ crates: { nodes: [] } }]);
  });

  test('Reference-26: an operation above the bound of the cost is refused before a statement, and costs a unit', async () => {
    const before = await rest(stores.app.url, '/v1/rate_limit', { token: owner.token });
    stores.statements.length = 0;
    const large = PAGE.replace('code', 'id code');
    const refused = await graphql(stores.app.url, large, { token: owner.token });
    expect(refused.status).toBe(400);
    expect(refused.body.errors[0].message).toContain('6401 fields in total');
    // Without `first`, a list has its usual page.
    const usual = await graphql(stores.app.url, PAGE.replace('(first: 20)', ''), { token: owner.token });
    expect(usual.status).toBe(200);
    const variable = `query ($first: Int) ${PAGE.replace('first: 20', 'first: $first')}`;
    const given = { token: owner.token, variables: { first: 40 } };
    expect((await graphql(stores.app.url, variable, given)).status).toBe(400);
    expect(stores.statements).toHaveLength(3);
    const after = await rest(stores.app.url, '/v1/rate_limit', { token: owner.token });
    expect(before.body.minute.remaining - after.body.minute.remaining).toBe(3);
  });

  test('Reference-27: nouns that refer to each other, and one that refers to itself, lead to any depth', async () => {
    const tenant = await stores.tenant();
    const [warehouse] = await tenant.create('warehouse', warehouseInputs(1));
    const [crate] = await tenant.create('crate', [{ code: 'main', warehouseId: warehouse }]);
    await tenant.ask(
      `mutation { updateWarehouse(id: "${warehouse}", input: {mainCrateId: "${crate}"}) { id } }`,
    );
    const round = await tenant.ask(
      `{ warehouse(id: "${warehouse}") { mainCrate { warehouse { mainCrate { code } } } } }`,
    );
    expect(round.data.warehouse.mainCrate.warehouse.mainCrate.code).toBe('main');

    const [root] = await tenant.create('section', [{ name: 'root' }]);
    const [inner] = await tenant.create('section', [{ name: 'inner', parentId: root }]);
    await tenant.create('section', [{ name: 'leaf', parentId: inner }]);
    const tree = await tenant.ask(
      `{ section(id: "${root}") { parent { name } sections { nodes { name parent { name } sections { nodes { name } } } } } }`,
    );
    expect(tree.data.section).toEqual({
      parent: null,
      sections: {
        nodes: [{ name: 'inner', parent: { name: 'root' }, sections: { nodes: [{ name: 'leaf' }] } }],
      },
    });
  });

  test('Reference-28: as many lists as the cost allows are a statement for each four hundred', async () => {
    const tenant = await stores.tenant();
    const [root] = await tenant.create('section', [{ name: 'root' }]);
    const inner = await tenant.create(
      'section',
      Array.from({ length: 16 }, (_, at) => ({ name: `${at}`, parentId: root })),
    );
    const leaves = inner.flatMap((parentId) =>
      Array.from({ length: 100 }, (_, at) => ({ name: `${at}`, parentId })),
    );
    const last = (await tenant.create('section', leaves)).at(-1);
    await tenant.create('section', [{ name: 'deep', parentId: last }]);
    stores.statements.length = 0;
    const { data, errors } = await tenant.ask(
      `{ section(id: "${root}") { sections(first: 16) { nodes { sections(first: 100) { nodes { sections(first: 1) { __typename } } } } } } }`,
    );
    expect(errors).toBeUndefined();
    expect(stores.statements).toHaveLength(3 + 4);
    const lists = data.section.sections.nodes.map(
      ({ sections }: { sections: { nodes: [] } }) => sections.nodes,
    );
    expect(lists.flat()).toHaveLength(1_600);
  });
});
