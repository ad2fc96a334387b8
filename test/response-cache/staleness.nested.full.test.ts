import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { type App, createApp } from '../../src/app/app.js';
import { loadGateway } from '../../src/app/gateway.js';
import { sharedDatabase } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { graphql } from '../support/http/client.js';
import stores from '../support/nouns/stores.js';
import { warehouseInputs } from '../support/references/stores.js';
import { type RedisServer, startRedis } from '../support/servers/redis.js';
import { startApp, type TestApp } from '../support/start-app.js';

const ROUNDS = 10;
const ALONE = '{ crates { nodes { code } } }';
/** Records of both nouns, from either side. */
const NESTED = {
  crates: '{ crates { nodes { code warehouse { name } } } }',
  warehouses: '{ warehouses { nodes { name crates { nodes { code } } } } }',
};

/** Both have connections to Redis and a memory of their own. */
let reader: TestApp;
let writer: App;
let redis: RedisServer;
let statements = 0;
beforeAll(async () => {
  redis = await startRedis();
  const gateway = await loadGateway(stores);
  reader = await startApp({
    ...{ gateway, kind: sharedDatabase(), env: { REDIS_URL: redis.url } },
    onQuery: (sql) => {
      if (/`?(warehouses|crates)\b/.test(sql)) statements += 1;
    },
  });
  const { db, clock, config } = reader;
  const logger = pino({ level: 'silent' });
  writer = await createApp({ gateway, config, db, logger, now: () => clock.now });
  await writer.listen();
});
afterAll(async () => {
  await writer.http.close();
  await reader.stop();
  await redis.stop();
});

test('Staleness-14: an answer with records of two nouns is never older than a write of either one by another process', async () => {
  const { token } = await reader.tenant();
  const { port } = writer.http.server.address() as AddressInfo;
  const write = async (mutation: string, variables = {}) => {
    const answer = await graphql(`http://127.0.0.1:${port}`, mutation, { token, variables });
    expect(answer.body.errors).toBeUndefined();
    return answer.body.data;
  };
  const read = async (query: string) => {
    statements = 0;
    const { data } = (await graphql(reader.url, query, { token })).body;
    return { data, isKept: statements === 0 };
  };
  const kept = (query: string) => eventually('an answer from memory', async () => (await read(query)).isKept);

  const made = await write(
    'mutation ($inputs: [NewWarehouse!]!) { it: createWarehouses(inputs: $inputs) { id } }',
    { inputs: warehouseInputs(1) },
  );
  const warehouse = made.it[0].id;
  const crate = (
    await write(`mutation { it: createCrate(input: {code: "C", warehouseId: "${warehouse}"}) { id } }`)
  ).it.id;
  for (let round = 0; round < ROUNDS; round += 1) {
    const isOfCrates = round % 2 === 0;
    for (const query of [...Object.values(NESTED), ALONE]) await kept(query);
    if (isOfCrates)
      await write(`mutation { updateCrate(id: "${crate}", input: {code: "C${round}"}) { id } }`);
    else await write(`mutation { updateWarehouse(id: "${warehouse}", input: {name: "W${round}"}) { id } }`);
    const name = round === 0 ? 'North 0' : `W${isOfCrates ? round - 1 : round}`;
    const code = `C${isOfCrates ? round : round - 1}`;
    const [crates, warehouses] = [await read(NESTED.crates), await read(NESTED.warehouses)];
    expect(crates.data.crates.nodes).toEqual([{ code, warehouse: { name } }]);
    expect(warehouses.data.warehouses.nodes).toEqual([{ name, crates: { nodes: [{ code }] } }]);
    expect((await read(ALONE)).data.crates.nodes).toEqual([{ code }]);
  }
});
