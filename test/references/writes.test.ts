import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { closeLog, openLog } from '../support/changes/changes.js';
import { databaseKinds } from '../support/databases.js';
import { rest } from '../support/http/client.js';
import {
  type Stores,
  type StoresTenant,
  startStores,
  warehouseInputs,
} from '../support/references/stores.js';

describe.each(databaseKinds())('on %s', (kind) => {
  let stores: Stores;
  let owner: StoresTenant;
  let foreign: string;
  const api = (path: string, method: string, body?: unknown) =>
    rest(stores.app.url, `/v1/${path}`, {
      method,
      token: owner.token,
      ...(body === undefined ? {} : { body: JSON.stringify(body).replaceAll(/"(-?\d{5,})"/g, '$1') }),
      ...(method === 'PATCH' ? { headers: { 'content-type': 'application/merge-patch+json' } } : {}),
    });
  const warehouse = async () => (await owner.create('warehouse', warehouseInputs(1)))[0] as string;
  const missing = (id: string, field = 'warehouseId') => ({
    code: 'invalid_request',
    errors: [{ field, message: `there is no warehouse ${id} in this project` }],
  });

  beforeAll(async () => {
    stores = await startStores(kind);
    owner = await stores.tenant();
    const other = await stores.tenant();
    [foreign = ''] = await other.create('warehouse', warehouseInputs(1));
  });
  afterAll(() => stores.app.stop());

  test('Reference-34: a write that must name an existing record is refused without one, in both APIs', async () => {
    const id = await warehouse();
    for (const unknown of ['4711123', foreign, '9223372036854775807']) {
      const created = await api('pallets', 'POST', { code: `A${unknown}`, warehouseId: unknown });
      expect(created.status).toBe(400);
      expect(created.body).toMatchObject(missing(unknown));
    }
    const { body } = await api('pallets', 'POST', { code: 'A1', warehouseId: id });
    expect(String(body.warehouseId)).toBe(id);
    const changed = await api(`pallets/${body.id}`, 'PATCH', { warehouseId: foreign });
    expect(changed.body).toMatchObject(missing(foreign));
    expect(String((await api(`pallets/${body.id}`, 'GET')).body.warehouseId)).toBe(id);

    const ask = await owner.ask(
      `mutation { createPallets(inputs: [{code: "A2", warehouseId: "${id}"}, {code: "A3", warehouseId: "${foreign}"}]) { id } }`,
    );
    expect(ask.errors[0].extensions.errors).toEqual(missing(foreign, 'inputs.1.warehouseId').errors);
    const one = await owner.ask(
      `mutation { createPallets(inputs: [{code: "A4", warehouseId: "${foreign}"}]) { id } }`,
    );
    expect(one.errors[0].extensions.errors).toEqual(missing(foreign, 'inputs.0.warehouseId').errors);
    expect((await api('pallets', 'GET')).body).toHaveLength(1);
    // Null names no record.
    const bin = await api('bins', 'POST', { code: 'B1' });
    expect(bin.status).toBe(201);
    expect((await api(`bins/${bin.body.id}`, 'PATCH', { home: null })).status).toBe(200);
  });

  test('Reference-35: the deletion of a record that others refer to is refused, and names them', async () => {
    const [id, other] = [await warehouse(), await warehouse()];
    const pallets = await owner.create('pallet', [
      { code: 'D1', warehouseId: id },
      { code: 'D2', warehouseId: id },
      { code: 'D3', warehouseId: other },
    ]);
    const refused = await api(`warehouses/${id}`, 'DELETE');
    expect(refused.status).toBe(409);
    expect(refused.body).toMatchObject({
      code: 'conflict',
      message: '2 pallets refer to this warehouse with warehouseId. Change or delete them first.',
    });
    await api(`pallets/${pallets[0]}`, 'DELETE');
    expect((await api(`warehouses/${id}`, 'DELETE')).body.message).toMatch(/^1 pallet refers to/);
    await api(`pallets/${pallets[1]}`, 'PATCH', { warehouseId: other });
    expect((await api(`warehouses/${id}`, 'DELETE')).status).toBe(204);
    expect((await api(`warehouses/${id}`, 'DELETE')).status).toBe(404);
  });

  test('Reference-36: a tree is deleted from its leaves, and a record that refers to itself at any time', async () => {
    const [root] = await owner.create('section', [{ name: 'root' }]);
    const [leaf] = await owner.create('section', [{ name: 'leaf', parentId: root }]);
    expect((await api(`sections/${root}`, 'DELETE')).status).toBe(409);
    expect((await api(`sections/${leaf}`, 'PATCH', { parentId: leaf })).status).toBe(200);
    expect((await api(`sections/${leaf}`, 'DELETE')).status).toBe(204);
    expect((await api(`sections/${root}`, 'DELETE')).status).toBe(204);
  });

  test.each([false, true])(
    'Reference-37: the deletion of a record unsets the fields of others, in its transaction (change log: %s)',
    async (isLogged) => {
      if (isLogged) await openLog(stores.app, owner);
      const id = await warehouse();
      const bins = await owner.create('bin', [
        { code: 'E1', home: id },
        { code: 'E2', home: id },
        { code: 'E3', home: null },
      ]);
      const ofHome = `{ bins(ids: ${JSON.stringify(bins)}) { changesCursor nodes { id home homeWarehouse { id } } } }`;
      // Until it is kept in memory.
      for (let time = 0; time < 3; time += 1) await owner.ask(ofHome);
      const before = await owner.ask(ofHome);
      expect(before.data.bins.nodes[1]).toEqual({ id: bins[1], home: id, homeWarehouse: { id } });
      expect((await api(`warehouses/${id}`, 'DELETE')).status).toBe(204);
      const { data } = await owner.ask(ofHome);
      expect(data.bins.nodes).toEqual(bins.map((bin) => ({ id: bin, home: null, homeWarehouse: null })));
      if (!isLogged) return;
      const { changesCursor } = before.data.bins;
      const followed = await owner.ask(
        `{ binChanges(after: "${changesCursor}") { nodes { kind bin { id home } } } warehouseChanges(after: "${changesCursor}") { nodes { kind warehouse { id } } } }`,
      );
      expect(followed.data.binChanges.nodes).toEqual(
        bins.slice(0, 2).map((bin) => ({ kind: 'UPDATED', bin: { id: bin, home: null } })),
      );
      expect(followed.data.warehouseChanges.nodes).toEqual([{ kind: 'DELETED', warehouse: { id } }]);
      await closeLog(stores.app, owner);
    },
  );

  test('Reference-38: it is refused if a record would not be valid, or if more than a thousand would change', async () => {
    const id = await warehouse();
    const [fixed] = await owner.create('bin', [{ code: 'Fixed 1', home: id }]);
    const invalid = await api(`warehouses/${id}`, 'DELETE');
    expect(invalid.status).toBe(409);
    expect(invalid.body.message).toBe(
      `The bin ${fixed} needs this warehouse: without it, home must be set for Fixed. Change that bin first.`,
    );
    const full = await warehouse();
    const bins = await owner.create(
      'bin',
      Array.from({ length: 1_001 }, (_, at) => ({ code: `F${at}`, home: full })),
    );
    const many = await api(`warehouses/${full}`, 'DELETE');
    expect(many.status).toBe(409);
    expect(many.body.message).toMatch(/^more than 1,000 bins refer to this warehouse with home/);
    await api(`bins/${bins[0]}`, 'DELETE');
    expect((await api(`warehouses/${full}`, 'DELETE')).status).toBe(204);
    expect((await owner.ask(`{ bin(id: "${bins[1_000]}") { home } }`)).data.bin.home).toBeNull();
  });

  test('Reference-39: without onDelete, the field keeps the identifier of the deleted record', async () => {
    const id = await warehouse();
    const [crate] = await owner.create('crate', [{ code: 'G1', warehouseId: id }]);
    expect((await api(`warehouses/${id}`, 'DELETE')).status).toBe(204);
    const { data } = await owner.ask(`{ crate(id: "${crate}") { warehouseId warehouse { name } } }`);
    expect(data.crate).toEqual({ warehouseId: id, warehouse: null });
  });

  test('Reference-40: a repeated request with its Idempotency-Key is answered although the record is deleted since', async () => {
    const id = await warehouse();
    const create = () =>
      rest(stores.app.url, '/v1/bins', {
        method: 'POST',
        token: owner.token,
        body: `{"code":"H1","home":${id}}`,
        headers: { 'idempotency-key': `reference-${id}` },
      });
    const first = await create();
    expect(first.status).toBe(201);
    await api(`warehouses/${id}`, 'DELETE');
    const again = await create();
    expect([again.status, again.text]).toEqual([201, first.text]);
  });
});
