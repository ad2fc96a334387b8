import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { checkReplica } from '../../src/cli/doctor-checks.js';
import { loadConfig } from '../../src/ground/config/config.js';
import { startTestedApp, type Tenant, type TestApp } from '../../src/testing/tested-app.js';
import { eventually } from '../support/eventually.js';
import { GATEWAY } from '../support/gateway/tested-gateway.js';
import { graphql, rest } from '../support/http/client.js';
import { query, type Replicated, startReplicated } from '../support/servers/clusters/replicated.js';
import { type RedisServer, startRedis } from '../support/servers/redis.js';

const ROUNDS = 60;
const NEWEST = '{ toys(first: 5, orderBy: NEWEST) { nodes { id } } }';

describe.each(['mysql', 'mariadb'] as const)('lists of a replica of %s', (kind) => {
  let servers: Replicated;
  let redis: RedisServer;
  let writer: TestApp;
  let reader: TestApp;
  let tenant: Tenant;

  const urlOf = ({ url }: { url: string }) => `${url.replace(/^mysql/, kind)}/petstore`;

  beforeAll(async () => {
    [servers, redis] = await Promise.all([startReplicated(kind), startRedis()]);
    await query(servers.primary, 'CREATE DATABASE petstore');
    const database = { url: urlOf(servers.primary), remove: async () => {} };
    const start = (env = {}) =>
      startTestedApp({ gateway: GATEWAY, database, env: { REDIS_URL: redis.url, ...env } });
    writer = await start();
    reader = await start({ DATABASE_READ_URL: urlOf(servers.replica) });
  });
  afterAll(async () => {
    await Promise.all([writer?.stop(), reader?.stop()]);
    await Promise.all([servers?.stop(), redis?.stop()]);
  });
  beforeEach(async () => {
    // A page of REST has the oldest 100 records.
    tenant = await writer.tenant();
    await isUsed();
  });

  const create = async (name: string) => {
    const body = { name, categoryId: 1 };
    const made = await rest(writer.url, '/v1/toys', { method: 'POST', token: tenant.token, body });
    expect(made.status).toBe(201);
    return String(made.body.id);
  };
  /** Lists of every sort at the other gateway; each must have the record. */
  const expectListed = async (id: string) => {
    const { token } = tenant;
    const answers = await Promise.all([
      rest(reader.url, '/v1/toys?limit=100', { token }),
      graphql(reader.url, NEWEST, { token }),
    ]);
    for (const { status, text } of answers) expect([status, text.includes(id)]).toEqual([200, true]);
  };
  const reads = () => ({ ...reader.db.listsRead });
  /** A list is read at the replica again. */
  const isUsed = () => {
    let limit = 0;
    return eventually(
      'the replica answers lists',
      async () => {
        const before = reads().replica ?? 0;
        // Another list each time: a known one may come from memory.
        limit += 1;
        await rest(reader.url, `/v1/toys?limit=${limit}`, { token: tenant.token });
        return (reads().replica ?? 0) > before;
      },
      30_000,
      500,
    );
  };

  test('Replica-1: show each acknowledged write at once, and come from the replica', async () => {
    const before = reads();
    for (let round = 0; round < ROUNDS; round += 1) await expectListed(await create(`toy ${round}`));
    const { replica = 0, primary = 0 } = reads();
    expect(replica - (before.replica ?? 0)).toBeGreaterThan(primary - (before.primary ?? 0));
    const fields = 'nodes { id name categoryId createdAt }';
    const list = `{ toys(first: 50) { ${fields} } toyCount }`;
    const { token } = tenant;
    const [atReplica, atPrimary] = await Promise.all(
      [reader.url, writer.url].map(async (url) => [
        (await rest(url, '/v1/toys?limit=50', { token })).text,
        (await graphql(url, list, { token })).text,
      ]),
    );
    expect(atReplica).toEqual(atPrimary);
  });

  test('Replica-2: come from the primary while the replica lags, and few of them with a wait', async () => {
    await servers.apply(false);
    try {
      const id = await create('late');
      await expectListed(id);
      const before = reads();
      for (let round = 0; round < 20; round += 1) await expectListed(id);
      expect(reads().replica).toBe(before.replica);
    } finally {
      await servers.apply(true);
    }
    await isUsed();
  });

  test('Replica-4: doctor says whether the replica gets what is written', async () => {
    const env = { DATABASE_URL: urlOf(servers.primary), DATABASE_READ_URL: urlOf(servers.replica) };
    const check = async () => (await checkReplica(loadConfig(env)))?.found;
    expect(await check()).toBe('it has all that the database has committed');
    await servers.apply(false);
    await create('late');
    expect(await check()).toMatch(/not got all writes of the database after 2 s/);
    await servers.apply(true);
    await isUsed();
  });

  test.each(['SIGSTOP', 'SIGKILL'] as const)(
    'Replica-3: come from the primary while the replica is gone, with no error (%s)',
    async (signal) => {
      await servers.replica.kill(signal);
      try {
        for (let round = 0; round < 5; round += 1) await expectListed(await create(`alone ${round}`));
      } finally {
        if (signal === 'SIGSTOP') await servers.replica.kill('SIGCONT');
        else await servers.replica.restart();
      }
      await isUsed();
    },
  );
});
