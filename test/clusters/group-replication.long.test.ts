import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { checkDatabase } from '../../src/cli/doctor-checks.js';
import { loadConfig } from '../../src/ground/config/config.js';
import { startTestedApp, type TestApp } from '../../src/testing/tested-app.js';
import { GATEWAY } from '../support/gateway/tested-gateway.js';
import { graphql, rest } from '../support/http/client.js';
import { type Group, type GroupMember, startGroup } from '../support/servers/clusters/group-replication.js';
import { type RedisServer, startRedis } from '../support/servers/redis.js';

const ROUNDS = 100;
const LIST = '{ toys(first: 100, orderBy: NEWEST) { nodes { id } } }';

let group: Group;
let redis: RedisServer;
const apps: TestApp[] = [];
const urlOf = ({ url }: GroupMember) => `${url}/petstore`;

beforeAll(async () => {
  [group, redis] = await Promise.all([startGroup(), startRedis()]);
  await group.members[0]?.query('CREATE DATABASE petstore');
  for (const member of group.members) {
    const database = { url: urlOf(member), remove: async () => {} };
    apps.push(await startTestedApp({ gateway: GATEWAY, database, env: { REDIS_URL: redis.url } }));
  }
});
afterAll(async () => {
  await Promise.all(apps.map((app) => app.stop()));
  await Promise.all([group.stop(), redis.stop()]);
});

test('Cluster-6: on Group Replication, records and lists at another member show each write at once', async () => {
  const [writer, ...readers] = apps as [TestApp, ...TestApp[]];
  const { token } = await writer.tenant();
  const seen = { answers: 0, stale: 0 };
  for (let round = 0; round < ROUNDS; round += 1) {
    const input = { name: `Toy ${round}`, categoryId: 1 };
    const { body } = await rest(writer.url, '/v1/toys', { method: 'POST', token, body: input });
    const answers = readers.map(async ({ url }) => [
      (await rest(url, `/v1/toys/${body.id}`, { token })).status === 200,
      (await graphql(url, LIST, { token })).text.includes(String(body.id)),
    ]);
    for (const isCurrent of (await Promise.all(answers)).flat()) {
      seen.answers += 1;
      if (!isCurrent) seen.stale += 1;
    }
  }
  expect(seen).toEqual({ answers: ROUNDS * 4, stale: 0 });
});

test('Cluster-7: doctor names the members of a group', async () => {
  const [member] = group.members as [GroupMember];
  const { found } = (await checkDatabase(loadConfig({ DATABASE_URL: urlOf(member) }))) ?? {};
  expect(found).toMatch(/^mysql \S+, Group Replication of 3 nodes \(.*\), strict answers$/);
  for (const { url } of group.members) expect(found).toContain(new URL(url).host);
});
