import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anyDatabase } from '../support/databases.js';
import { rest } from '../support/http/client.js';
import {
  type Stores,
  type StoresTenant,
  startStores,
  warehouseInputs,
} from '../support/references/stores.js';

interface Operation {
  description: string;
  responses: Record<409, { content: { 'application/json': { examples: { conflict: { value: object } } } } }>;
}

describe.each([anyDatabase()])('on %s', (kind) => {
  let stores: Stores;
  let owner: StoresTenant;
  let deletionOf: (noun: string) => Operation;
  beforeAll(async () => {
    stores = await startStores(kind);
    owner = await stores.tenant();
    const { paths } = (await rest(stores.app.url, '/v1/openapi.json')).body;
    deletionOf = (noun) => paths[`/${noun}s/{${noun}Id}`].delete;
  });
  afterAll(() => stores.app.stop());

  const remove = (path: string) =>
    rest(stores.app.url, `/v1/${path}`, { method: 'DELETE', token: owner.token });
  const shownConflict = (noun: string) =>
    deletionOf(noun).responses[409].content['application/json'].examples.conflict.value;

  test('ReferenceText-1: the deletion of a record that others guard says so in OpenAPI, with the answer that a client gets', async () => {
    const { description } = deletionOf('warehouse');
    expect(description).toContain(
      'While a pallet refers to the warehouse with `warehouseId`, the answer is `conflict`, and nothing is changed.',
    );
    expect(description).toContain(
      'The bins that refer to the warehouse lose their `home`: if there are more than 1,000, or a bin would not be valid, the answer is `conflict`',
    );
    expect(deletionOf('section').description).toContain(
      'While another section refers to the section with `parentId`',
    );
    const [warehouse] = await owner.create('warehouse', warehouseInputs(1));
    const [root] = await owner.create('section', [{ name: 'root' }]);
    const pallets = ['P1', 'P2'].map((code) => ({ code, warehouseId: warehouse }));
    await owner.create('pallet', pallets);
    await owner.create(
      'section',
      [1, 2].map((at) => ({ name: `${at}`, parentId: root })),
    );
    expect((await remove(`warehouses/${warehouse}`)).body).toEqual(shownConflict('warehouse'));
    expect((await remove(`sections/${root}`)).body).toEqual(shownConflict('section'));
  });

  test('ReferenceText-2: that of a record to which nothing refers, or only without onDelete, says nothing of it', async () => {
    for (const noun of ['pallet', 'crate', 'bin']) {
      expect(deletionOf(noun).description).not.toMatch(/conflict|refer/);
      expect(JSON.stringify(shownConflict(noun))).toContain(
        'A request with this Idempotency-Key is still running',
      );
    }
  });
});
