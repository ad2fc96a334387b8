import { afterAll, expect, test } from '@jest/globals';
import type { Gateway } from '../../src/app/gateway.js';
import { loadGateway } from '../../src/app/gateway.js';
import { ChangeSequence } from '../../src/ground/database/change-sequence.entity.js';
import { databaseKinds } from '../support/databases.js';
import { graphql } from '../support/http/client.js';
import { BOXES_GATEWAY } from '../support/nouns/boxes.js';
import stores from '../support/nouns/stores.js';
import { createLoneNode } from '../support/servers/clusters/lone-node.js';
import { startApp } from '../support/start-app.js';

const kinds = databaseKinds().filter((kind) => kind !== 'sqlite');
const ends: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

/** Sends a mutation. Returns the id of its record, and how many turns of the project it took. */
type TurnsOf = (mutation: string, selection?: string) => Promise<[id: string, turns: number]>;

async function startNode(kind: (typeof kinds)[number], gateway: Gateway): Promise<TurnsOf> {
  const node = await createLoneNode(kind);
  ends.push(() => node.remove());
  const app = await startApp({ gateway: await loadGateway(gateway), env: node.env });
  ends.push(() => app.stop());
  const owner = await app.tenant();
  const name = `t:${owner.projectId.toString(36)}`;
  const rows = app.db.repository(ChangeSequence);
  const taken = async () => Number((await rows.findOneBy({ name }))?.value ?? 0);
  return async (mutation, selection = 'id') => {
    const before = await taken();
    const { body } = await graphql(app.url, `mutation { it: ${mutation} { ${selection} } }`, {
      token: owner.token,
    });
    expect(body.errors).toBeUndefined();
    return [String(body.data.it.id ?? body.data.it.key?.id), (await taken()) - before];
  };
}

// Two nodes share no locks. Of two transactions that write one row, only the first is committed.
test.each(kinds)(
  'Overlap-3: on a node of a cluster writes of references, deletions of what they refer to, and changes of keys take turns; other writes do not (%s)',
  async (kind) => {
    const turnsOf = await startNode(kind, stores);
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
  },
);

test.each(kinds)(
  'Overlap-4: on a node of a cluster the restoration of a record with references takes a turn (%s)',
  async (kind) => {
    const turnsOf = await startNode(kind, BOXES_GATEWAY);
    const [rack] = await turnsOf('createRack(input: {place: "left"})');
    const [box] = await turnsOf(`createBox(input: {title: "Box", code: "B1", rackId: "${rack}"})`);
    await turnsOf(`deleteBox(id: "${box}")`);
    expect((await turnsOf(`restoreBox(id: "${box}")`))[1]).toBe(1);
  },
);
