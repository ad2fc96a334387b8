import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { loadGateway } from '../../src/app/gateway.js';
import { ChangeSequence } from '../../src/ground/database/change-sequence.entity.js';
import { databaseKinds } from '../support/databases.js';
import { graphql } from '../support/http/client.js';
import stores from '../support/nouns/stores.js';
import { createLoneNode } from '../support/servers/clusters/lone-node.js';
import { startApp, type Tenant, type TestApp } from '../support/start-app.js';

describe.each(databaseKinds().filter((kind) => kind !== 'sqlite'))('a node of a cluster, on %s', (kind) => {
  let node: Awaited<ReturnType<typeof createLoneNode>>;
  let app: TestApp;
  let owner: Tenant;
  beforeAll(async () => {
    node = await createLoneNode(kind);
    app = await startApp({ gateway: await loadGateway(stores), env: node.env });
    owner = await app.tenant();
  });
  afterAll(async () => {
    await app.stop();
    await node.remove();
  });

  /** Sends the mutation. Returns the id of its record, and how many turns of the project it took. */
  async function turnsOf(mutation: string, selection = 'id'): Promise<[id: string, turns: number]> {
    const name = `t:${owner.projectId.toString(36)}`;
    const rows = app.db.repository(ChangeSequence);
    const taken = async () => Number((await rows.findOneBy({ name }))?.value ?? 0);
    const before = await taken();
    const { body } = await graphql(app.url, `mutation { it: ${mutation} { ${selection} } }`, {
      token: owner.token,
    });
    expect(body.errors).toBeUndefined();
    return [String(body.data.it.id ?? body.data.it.key?.id), (await taken()) - before];
  }

  // Two nodes share no locks. Of two transactions that write one row, only the first is committed.
  test('Overlap-3: writes of references, deletions of what they refer to, and changes of keys take turns; other writes do not', async () => {
    const [warehouse, ofWarehouse] = await turnsOf('createWarehouse(input: {name: "North", city: "Oslo"})');
    expect(ofWarehouse).toBe(0);
    const [bin, ofBin] = await turnsOf('createBin(input: {code: "A"})');
    expect(ofBin).toBe(0);
    expect((await turnsOf(`updateBin(id: "${bin}", input: {home: "${warehouse}"})`))[1]).toBe(1);
    expect((await turnsOf(`createBin(input: {code: "B", home: "${warehouse}"})`))[1]).toBe(1);
    expect((await turnsOf(`deleteWarehouse(id: "${warehouse}")`))[1]).toBe(1);
    const [key, ofKey] = await turnsOf(
      'createApiKey(input: {name: "new", scopes: [BINS_READ]})',
      'key { id }',
    );
    expect(ofKey).toBe(1);
    expect((await turnsOf(`revokeApiKey(id: "${key}")`))[1]).toBe(1);
  });
});
