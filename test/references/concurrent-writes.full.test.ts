import { describe, expect, test } from '@jest/globals';
import { openLog } from '../support/changes/changes.js';
import { databaseKinds } from '../support/databases.js';
import { isLongRun } from '../support/long-run.js';
import { startStores, warehouseInputs } from '../support/references/stores.js';

const ROUNDS = isLongRun ? 200 : 20;
/** On a busy machine a write may wait for a lock longer than it may. */
const MOST_UNAVAILABLE = ROUNDS / 20;

describe.each(databaseKinds())('on %s', (kind) => {
  test.each([false, true])(
    'Reference-41: no record refers to one that is deleted at the same time (change log: %s)',
    async (isLogged) => {
      const stores = await startStores(kind);
      try {
        const owner = await stores.tenant();
        if (isLogged) await openLog(stores.app, owner);
        const warehouses = await owner.create('warehouse', warehouseInputs(ROUNDS + 1));
        const spare = warehouses.at(-1);
        const [moved] = await owner.create('bin', [{ code: 'moved', home: spare }]);
        const done = { refused: 0, deleted: 0, unavailable: 0 };
        for (const [round, id] of warehouses.slice(0, ROUNDS).entries()) {
          // A minute allows 300 writes of each kind.
          stores.app.clock.now += 2_000;
          const writes = [
            `createBin(input: {code: "A", home: "${id}"})`,
            `createBins(inputs: [{code: "B", home: "${id}"}, {code: "C"}])`,
            `updateBin(id: "${moved}", input: {home: "${id}"})`,
            // A refused deletion would say nothing about bins.
            ...(round % 2 ? [`createPallet(input: {code: "P${round}", warehouseId: "${id}"})`] : []),
            `deleteWarehouse(id: "${id}")`,
          ];
          // Each is first in some rounds.
          const ordered = writes.map((_, at) => writes[(at + round) % writes.length]);
          const answers = await Promise.all(
            ordered.map((write) => owner.ask(`mutation { ${write} { id } }`)),
          );
          const codes = answers.flatMap(({ errors = [] }) =>
            errors.map(({ extensions }: { extensions: { code: string } }) => extensions.code),
          );
          const unavailable = codes.filter((code) => code === 'UNAVAILABLE').length;
          done.unavailable += unavailable;
          const known = ['INVALID_REQUEST', 'CONFLICT', 'UNAVAILABLE'];
          expect(codes.filter((code) => !known.includes(code))).toEqual([]);
          const { data } = await owner.ask(
            `{ warehouses(ids: ["${id}"]) { nodes { id } } bins(home: "${id}") { nodes { id } } pallets(warehouseId: "${id}") { nodes { id } } }`,
          );
          const isDeleted = data.warehouses.nodes.length === 0;
          done[isDeleted ? 'deleted' : 'refused'] += 1;
          if (!isDeleted && unavailable === 0) expect(codes).toContain('CONFLICT');
          if (isDeleted) expect([data.bins.nodes, data.pallets.nodes]).toEqual([[], []]);
        }
        expect(done.unavailable).toBeLessThanOrEqual(MOST_UNAVAILABLE);
        expect(done.deleted).toBeGreaterThanOrEqual(ROUNDS / 2 - MOST_UNAVAILABLE);
      } finally {
        await stores.app.stop();
      }
    },
  );
});
