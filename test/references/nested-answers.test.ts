import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anyDatabase } from '../support/databases.js';
import {
  type Stores,
  type StoresTenant,
  startStores,
  warehouseInputs,
} from '../support/references/stores.js';

const NESTED = '{ crates { nodes { code warehouse { name } } } }';
const LISTED = '{ warehouses { nodes { name crates { nodes { code } } } } }';
const ALONE = '{ crates { nodes { code } } }';
/** Apollo executes the first, and the third is kept. */
const UNTIL_KEPT = 4;

describe.each([anyDatabase()])('on %s', (kind) => {
  let stores: Stores;
  let owner: StoresTenant;
  let warehouse: string;
  let crate: string;

  beforeAll(async () => {
    stores = await startStores(kind);
    owner = await stores.tenant();
    [warehouse = ''] = await owner.create('warehouse', warehouseInputs(1));
    [crate = ''] = await owner.create('crate', [{ code: 'C1', warehouseId: warehouse }]);
  });
  afterAll(() => stores.app.stop());

  /** The answer, and the statements of the last request. */
  async function asked(query: string, times = 1) {
    let answer: { data: unknown } = { data: null };
    for (let time = 0; time < times; time += 1) {
      stores.statements.length = 0;
      answer = await owner.ask(query);
    }
    return { data: answer.data, statements: stores.statements.length };
  }

  const rename = (type: string, id: string, field: string, value: string) =>
    owner.ask(`mutation { update${type}(id: "${id}", input: {${field}: "${value}"}) { id } }`);
  const crates = (code: string, name: string) => ({ crates: { nodes: [{ code, warehouse: { name } }] } });

  test('Reference-29: an answer with two nouns is kept while neither is written', async () => {
    expect(await asked(NESTED, UNTIL_KEPT)).toEqual({ data: crates('C1', 'North 0'), statements: 0 });
    expect((await asked(ALONE, UNTIL_KEPT)).statements).toBe(0);
    await rename('Warehouse', warehouse, 'name', 'South');
    expect(await asked(NESTED)).toEqual({ data: crates('C1', 'South'), statements: 2 });
    // Crates alone are as they were.
    expect((await asked(ALONE)).statements).toBe(0);
    await rename('Crate', crate, 'code', 'C2');
    expect(await asked(NESTED)).toEqual({ data: crates('C2', 'South'), statements: 2 });
    expect((await asked(ALONE)).statements).toBe(1);
  });

  test('Reference-30: so is one with the list of each record', async () => {
    const listed = (name: string, codes: string[]) => ({
      warehouses: { nodes: [{ name, crates: { nodes: codes.map((code) => ({ code })) } }] },
    });
    expect(await asked(LISTED, UNTIL_KEPT)).toEqual({ data: listed('South', ['C2']), statements: 0 });
    const [added] = await owner.create('crate', [{ code: 'C3', warehouseId: warehouse }]);
    expect((await asked(LISTED)).data).toEqual(listed('South', ['C3', 'C2']));
    await owner.ask(`mutation { deleteCrate(id: "${added}") { id } }`);
    expect((await asked(LISTED)).data).toEqual(listed('South', ['C2']));
    await rename('Warehouse', warehouse, 'name', 'North');
    expect((await asked(LISTED)).data).toEqual(listed('North', ['C2']));
  });
});
