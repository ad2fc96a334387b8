import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { loadConfig } from '../../../src/ground/config/config.js';
import { Database } from '../../../src/ground/database/database.js';
import type { Quota, Scope } from '../../../src/ground/kernel/caller.js';
import { migrate } from '../../../src/ground/migrating/migrate.js';
import { type AttackedGateway, startAttackedGateway } from '../../support/attacks/attacked-gateway.js';
import { createTestDatabase, sharedDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { createServices, DATABASE_SCHEMA, SCOPES } from '../../support/gateway/tested-gateway.js';
import { type GatewayProcess, startGateway } from '../../support/gateway-process.js';
import { graphql, rest } from '../../support/http/client.js';
import { KeepAliveClient } from '../../support/http/keep-alive-client.js';
import { countedLimiter } from '../../support/limiter/shared-limiter.js';
import { startRedis } from '../../support/servers/redis.js';

const CONNECTIONS = 16;
const ACTOR = { name: 'test', requestId: null };
const MINUTE_MS = 60_000;
const TOYS = '{ toys(first: 1) { nodes { id } } }';
const PROJECT = '{ project { slug } apiKeys { id name } }';

let projects = 0;

/** Creates a project with this quota, and a key for each of the sets of scopes. */
async function createProject(databaseUrl: string, quota: Quota, scopes: readonly (readonly Scope[])[]) {
  const db = await Database.open(loadConfig({ DATABASE_URL: databaseUrl }).database, DATABASE_SCHEMA);
  try {
    const services = createServices(db, Date.now);
    projects += 1;
    const slug = `attacked-${process.pid}-${projects}`;
    const wanted = { slug, name: null, plan: 'ENTERPRISE', ...quota } as const;
    const { id } = await services.projects.create(ACTOR, wanted);
    const keys: { id: string; token: string }[] = [];
    for (const own of scopes) {
      const issued = await services.apiKeys.create(ACTOR, {
        projectId: id,
        name: 'test',
        scopes: own,
        expiresAtMs: null,
      });
      keys.push({ id: String(issued.key.id), token: issued.token });
    }
    return keys;
  } finally {
    await db.close();
  }
}

/** Returns a document of 20 KB that no earlier request has sent. */
let documents = 0;
const newDocument = () => {
  documents += 1;
  return `${TOYS} # ${documents} ${'x'.repeat(20_000)}`;
};

/** Sends requests for toys one by one, alternating between both doors, until `isOver`; returns their statuses. */
async function hammer(url: string, token: string, isOver: () => boolean): Promise<number[]> {
  const client = new KeepAliveClient(url, token);
  const statuses: number[] = [];
  while (!isOver()) {
    const query = newDocument();
    const isOfRest = documents % 2 === 0;
    const sent = isOfRest
      ? client.send('/v1/toys')
      : client.send('/graphql', { method: 'POST', body: { query } });
    statuses.push((await sent).status);
  }
  client.close();
  return statuses;
}

describe('a leaked key that hammers', () => {
  let attacked: AttackedGateway | undefined;
  afterEach(() => attacked?.stop());

  test(`Owner-1: while a banned key hammers from ${CONNECTIONS} connections, the owner opens the project with either key and revokes it`, async () => {
    attacked = await startAttackedGateway();
    const { gateway, neighbour, databaseUrl } = attacked;
    const quota = { perMinute: 1_000, perDay: 50 };
    const [owner, leaked] = await createProject(databaseUrl, quota, [SCOPES, ['toys:read']]);
    if (!owner || !leaked) throw new Error('the project has no keys');
    let isOver = false;
    const hammering = Promise.all(
      Array.from({ length: CONNECTIONS }, () => hammer(gateway.url, leaked.token, () => isOver)),
    );
    const { url } = gateway;
    const standing = () => rest(url, '/v1/rate_limit', { token: leaked.token });
    await eventually('banned', async () => {
      const { body } = await standing();
      return body.day.remaining === 0 && body.ban.untilSeconds !== null;
    });
    neighbour.startOver();
    await eventually('the neighbour has read', () => neighbour.readCount >= 20);

    const byOwner = await graphql(url, PROJECT, { token: owner.token });
    expect([byOwner.status, byOwner.body.errors, byOwner.body.data?.apiKeys.length]).toEqual([
      200,
      undefined,
      2,
    ]);
    const bySameKey = await graphql(url, '{ project { slug } apiKey { id } }', { token: leaked.token });
    expect([bySameKey.status, bySameKey.body.errors]).toEqual([200, undefined]);
    for (let looks = 0; looks < 20; looks += 1) {
      const { status } = await graphql(url, '{ project { plan } }', { token: leaked.token });
      expect([looks, status]).toEqual([looks, 200]);
    }
    const revoke = `mutation { revokeApiKey(id: "${leaked.id}") { revokedAt } }`;
    const revoked = await graphql(url, revoke, { token: owner.token });
    expect(revoked.body.data.revokeApiKey.revokedAt).not.toBeNull();
    await eventually('the leaked key is refused', async () => (await standing()).status === 401);

    isOver = true;
    const statuses = (await hammering).flat();
    expect(statuses.filter((status) => status === 200)).toHaveLength(50);
    expect(neighbour.failures()).toEqual([]);
    expect(gateway.faults()).toEqual([]);
  }, 60_000);
});

const PLAN_PER_MINUTE = 60;
const MANAGEMENT_PER_MINUTE = 120;
const MIXED = '{ toys(first: 1) { nodes { id } } project { slug } apiKey { id } }';
const ASKED = [
  { query: TOYS, count: 100, toys: 1, management: 0 },
  { query: '{ project { slug } }', count: 150, toys: 0, management: 1 },
  { query: MIXED, count: 50, toys: 1, management: 2 },
];

/** Several processes need a database server: SQLite is for one process. */
const SHARED_KIND = sharedDatabase();

describe.each([
  ['one process that counts in memory', 1, 'sqlite'],
  ['two processes that count in Redis', 2, SHARED_KIND],
] as const)('%s', (_, processes, kind) => {
  test('Owner-2: 300 simultaneous operations, mixed or not, admit exactly the plan and the allowance of the key', async () => {
    const database = await createTestDatabase(kind);
    const redis = processes > 1 ? await startRedis() : null;
    const gateways: GatewayProcess[] = [];
    try {
      await migrate(loadConfig({ DATABASE_URL: database.url }).database, DATABASE_SCHEMA);
      const shared = { DATABASE_URL: database.url, ...(redis ? { REDIS_URL: redis.url } : {}) };
      const limiters = await Promise.all(Array.from({ length: processes }, countedLimiter));
      for (const { env } of limiters) gateways.push(await startGateway({ env: { ...shared, ...env } }));
      const urlOf = (at: number) => (gateways[at % processes] as GatewayProcess).url;
      const counts = async () => JSON.stringify(await Promise.all(limiters.map(({ read }) => read())));
      for (let rounds = 0; rounds < 3; ) {
        // A round must end in the minute in which it began.
        if (Date.now() % MINUTE_MS > 45_000) await pause(MINUTE_MS - (Date.now() % MINUTE_MS));
        const quota = { perMinute: PLAN_PER_MINUTE, perDay: 1_000 };
        const [key] = await createProject(database.url, quota, [SCOPES]);
        const token = key?.token ?? '';
        const minute = Math.floor(Date.now() / MINUTE_MS);
        const before = await counts();
        const asked = ASKED.flatMap((kind) => Array.from({ length: kind.count }, () => kind)).sort(
          () => Math.random() - 0.5,
        );
        const answers = await Promise.all(
          asked.map(async (kind, at) => ({
            ...kind,
            status: (await graphql(urlOf(at), kind.query, { token })).status,
          })),
        );
        const { body } = await rest(urlOf(0), '/v1/rate_limit', { token });
        const isCut = Math.floor(Date.now() / MINUTE_MS) !== minute;
        // If Redis got no processor time, each process counts alone, which is another promise.
        if (isCut || (await counts()) !== before) continue;
        // An overloaded process refuses requests before it counts them, which is another promise.
        if (answers.some(({ status }) => status === 503)) continue;
        const admitted = answers.filter(({ status }) => status === 200);
        expect(answers.filter(({ status }) => status !== 200 && status !== 429)).toEqual([]);
        const spent = (by: 'toys' | 'management') => admitted.reduce((sum, cost) => sum + cost[by], 0);
        expect([spent('toys'), spent('management')]).toEqual([PLAN_PER_MINUTE, MANAGEMENT_PER_MINUTE]);
        // Refused operations have spent nothing.
        expect([body.minute.remaining, body.day.remaining]).toEqual([0, 1_000 - PLAN_PER_MINUTE]);
        rounds += 1;
      }
      for (const gateway of gateways) expect(gateway.faults()).toEqual([]);
    } finally {
      await Promise.all(gateways.map((gateway) => gateway.kill('SIGKILL')));
      await redis?.stop();
      await database.remove();
    }
  }, 120_000);
});
