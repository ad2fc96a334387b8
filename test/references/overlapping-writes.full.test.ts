import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { closeLog, openLog } from '../support/changes/changes.js';
import { databaseKinds } from '../support/databases.js';
import {
  type OtherTransaction,
  otherTransaction,
  type TransactionEnd,
} from '../support/references/other-transaction.js';
import {
  type Stores,
  type StoresTenant,
  startStores,
  warehouseInputs,
} from '../support/references/stores.js';

const ENDS: readonly TransactionEnd[] = ['COMMIT', 'ROLLBACK'];

describe.each(databaseKinds())('on %s', (kind) => {
  let stores: Stores;
  let owner: StoresTenant;
  let records = 0;
  beforeAll(async () => {
    stores = await startStores(kind);
    owner = await stores.tenant();
  });
  afterAll(() => stores.app.stop());

  const warehouse = async () => (await owner.create('warehouse', warehouseInputs(1)))[0] as string;

  /**
   * The code of the answer of a mutation that is sent while `other` is open; null = it was done. `other` does `more` while
   * the mutation waits for it.
   */
  async function answered(
    mutation: string,
    { other, more, end }: { other: OtherTransaction; more?: () => Promise<void>; end: TransactionEnd },
  ): Promise<string | null> {
    const arrived = once(stores.app.app.http.server, 'request');
    const answer = owner.ask(`mutation { ${mutation} { id } }`);
    await arrived;
    await other
      .isWaitedFor()
      .then(more)
      .finally(() => other.end(end));
    return (await answer).errors?.[0].extensions.code ?? null;
  }
  const whoRefersTo = async (id: string) => {
    const { data } = await owner.ask(
      `{ warehouses(ids: ["${id}"]) { nodes { id } } bins(home: "${id}") { nodes { id } } pallets(warehouseId: "${id}") { nodes { id } } }`,
    );
    const count = (name: string) => data[name].nodes.length;
    return { warehouses: count('warehouses'), referring: count('bins') + count('pallets') };
  };

  describe.each([false, true])('change log: %s', (isLogged) => {
    beforeAll(() => (isLogged ? openLog : closeLog)(stores.app, owner));

    test.each(ENDS)(
      'Overlap-1: a record that refers to one that another process deletes waits for its %s',
      async (end) => {
        const [bin] = await owner.create('bin', [{ code: 'moved' }]);
        const writes = (id: string) => [
          `createBin(input: {code: "A", home: "${id}"})`,
          `createBins(inputs: [{code: "B", home: "${id}"}, {code: "C"}])`,
          `createPallet(input: {code: "P${id}", warehouseId: "${id}"})`,
          `updateBin(id: "${bin}", input: {home: "${id}"})`,
        ];
        for (const at of writes('').keys()) {
          const id = await warehouse();
          const other = await otherTransaction(stores.app.config.database);
          await other.run('DELETE FROM warehouses WHERE project_id = ? AND id = ?', [
            owner.projectId,
            BigInt(id),
          ]);
          const code = await answered(writes(id)[at] as string, { other, end });
          const isDeleted = end === 'COMMIT';
          expect(code).toBe(isDeleted ? 'INVALID_REQUEST' : null);
          expect(await whoRefersTo(id)).toEqual(
            isDeleted ? { warehouses: 0, referring: 0 } : { warehouses: 1, referring: 1 },
          );
        }
      },
    );

    test.each(ENDS)(
      'Overlap-2: the deletion of a record to which another process lets one refer waits for its %s',
      async (end) => {
        const id = await warehouse();
        const other = await otherTransaction(stores.app.config.database);
        const { dialect } = stores.app.db;
        const key = [owner.projectId, BigInt(id)];
        // As a gateway does, in this order.
        await other.run(
          `SELECT id FROM warehouses WHERE project_id = ? AND id = ? ${dialect.shareLock}`,
          key,
        );
        records += 1;
        const pallet = [owner.projectId, records, `O${records}`, BigInt(id)];
        const insert =
          'INSERT INTO pallets (project_id, id, code, warehouse_id, created_at_ms) VALUES (?, ?, ?, ?, 1)';
        const more = () => other.run(insert, pallet);
        const code = await answered(`deleteWarehouse(id: "${id}")`, { other, more, end });
        const isReferred = end === 'COMMIT';
        expect(code).toBe(isReferred ? 'CONFLICT' : null);
        expect(await whoRefersTo(id)).toEqual(
          isReferred ? { warehouses: 1, referring: 1 } : { warehouses: 0, referring: 0 },
        );
      },
    );
  });
});
