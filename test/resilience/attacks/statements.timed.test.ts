import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Domain } from '../../../src/domains/store/domain.entity.js';
import { DomainEvent } from '../../../src/domains/store/timeline.js';
import { loadConfig } from '../../../src/ground/config/config.js';
import { Database } from '../../../src/ground/database/database.js';
import { ApiKey } from '../../../src/tenants/api-keys/api-key.entity.js';
import { digestOf, newToken } from '../../../src/tenants/api-keys/token.js';
import { type AttackedGateway, startAttackedGateway } from '../../support/attacks/attacked-gateway.js';
import { databaseKinds } from '../../support/databases.js';
import { domainRow } from '../../support/domains/served-domain.js';
import { DATABASE_SCHEMA } from '../../support/gateway/tested-gateway.js';
import { KeepAliveClient } from '../../support/http/keep-alive-client.js';

const CLIENTS = 4;
const DOMAINS = 100;
const EVENTS = 50;
const KEYS = 90;
const ATTACK_MS = 3_000;
/** The most processor time a hostile operation may take, in multiples of the smallest operation's. */
const MOST_PLAIN = 40;

const aliases = (count: number, part: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => part(at)).join(' ');

const domainChanges = aliases(20, (at) => `s${at}: setDomains(input: {redirects: []}) { applied }`);

/** Each of these costs little of the plan and asks for much. Mutations run one after the other, each as an operation. */
const HOSTILE: [name: string, query: string, mutations?: number][] = [
  [
    'timelines of 100 domains, 24 times',
    `{ domains { ${aliases(24, (at) => `t${at}: timeline(first: 1) { name }`)} } }`,
  ],
  ['the keys, 20 times', `{ ${aliases(20, (at) => `k${at}: apiKeys { id }`)} }`],
  [
    'the usage, 30 times',
    `{ project { ${aliases(30, (at) => `u${at}: usage(window: ${at % 2 ? 'HOUR' : 'MONTH'}) { __typename }`)} } }`,
  ],
  ['20 changes of domains', `mutation { ${domainChanges} }`, 20],
];

describe.each(databaseKinds())('on %s', (kind) => {
  let attacked: AttackedGateway;
  let tokens: string[];
  beforeAll(async () => {
    attacked = await startAttackedGateway({ kind });
    await fill(attacked);
  });
  // An attack spends the allowances of most keys.
  beforeEach(async () => {
    tokens = await newKeys(attacked);
  });
  afterAll(() => attacked?.stop());

  test.each(HOSTILE)(
    `Attack-4: ${CLIENTS} clients that ask for %s do not block a neighbour, who is always answered`,
    async (_, query, mutations = 1) => {
      const { gateway, neighbour, processorMs } = attacked;
      const clients = tokens.map((token) => new KeepAliveClient(gateway.url, token));
      const statuses = new Set<number>();
      const ask = async (client: KeepAliveClient, asked = query) => {
        const { status } = await client.send('/graphql', { method: 'POST', body: { query: asked } });
        statuses.add(status);
      };
      const costMs = async (times: number, asked: string) => {
        const usedMs = await processorMs();
        for (let at = 0; at < times; at += 1) await ask(clients[at] as KeepAliveClient, asked);
        return ((await processorMs()) - usedMs) / times;
      };
      const plainMs = await costMs(60, '{ project { slug } }');
      const hostileMs = await costMs(10, query);
      neighbour.startOver();
      const endsAt = performance.now() + ATTACK_MS;
      // A key soon spends its allowance, so each request uses the next key.
      let turn = 0;
      const attack = async () => {
        for (; performance.now() < endsAt; turn += 1)
          await ask(clients[turn % clients.length] as KeepAliveClient);
      };
      await Promise.all(Array.from({ length: CLIENTS }, attack));
      for (const client of clients) client.close();
      // 429: all keys of the attacker have spent their allowance.
      expect([...statuses].filter((status) => status !== 429)).toEqual([200]);
      expect(neighbour.failures()).toEqual([]);
      // About 15 times on a development machine, idle or busy; 100 times with a statement for each alias.
      expect(hostileMs / mutations).toBeLessThan(MOST_PLAIN * plainMs);
    },
  );
});

/** Gives the attacker's project the maximum size, and a history. */
function fill({ databaseUrl, attackerToken }: AttackedGateway): Promise<void> {
  return inDatabase(databaseUrl, async (db) => {
    const { projectId } = await keyOf(db, attackerToken);
    const domains = Array.from({ length: DOMAINS }, (_, at) =>
      Object.assign(domainRow(projectId, `d${at}.customer.test`, Date.now()), { nextCheckAtMs: null }),
    );
    let id = 0n;
    const events = domains.flatMap((domain) =>
      Array.from({ length: EVENTS }, () => {
        id += 1n;
        return {
          id,
          domainId: domain.id,
          atMs: 0,
          name: 'domain.checked',
          message: 'A sentence.',
          diagnoses: [],
        };
      }),
    );
    await db.transaction(async (manager) => {
      await manager.insert(Domain, domains);
      for (let at = 0; at < events.length; at += 500)
        await manager.insert(DomainEvent, events.slice(at, at + 500));
    });
  });
}

/** Returns tokens of new keys of the attacker's project. */
function newKeys({ databaseUrl, attackerToken }: AttackedGateway): Promise<string[]> {
  return inDatabase(databaseUrl, async (db) => {
    const { projectId } = await keyOf(db, attackerToken);
    const key = await db.repository(ApiKey).findOneOrFail({ where: { projectId }, order: { id: 'DESC' } });
    const tokens = Array.from({ length: KEYS }, () => newToken());
    const keys = tokens.map((token, at) => ({
      ...key,
      id: key.id + BigInt(at + 1),
      digest: digestOf(token),
    }));
    await db.transaction((manager) => manager.insert(ApiKey, keys));
    return tokens;
  });
}

const keyOf = (db: Database, token: string) =>
  db.repository(ApiKey).findOneByOrFail({ digest: digestOf(token) });

async function inDatabase<T>(url: string, work: (db: Database) => Promise<T>): Promise<T> {
  const db = await Database.open(loadConfig({ DATABASE_URL: url }).database, DATABASE_SCHEMA);
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}
