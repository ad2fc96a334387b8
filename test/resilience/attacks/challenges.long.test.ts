import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { loadConfig } from '../../../src/ground/config/config.js';
import { Database } from '../../../src/ground/database/database.js';
import { migrate } from '../../../src/ground/migrating/migrate.js';
import { RequestFlood } from '../../support/attacks/request-flood.js';
import { createTestDatabase, sharedDatabase, type TestDatabase } from '../../support/databases.js';
import {
  ownerOf,
  PLATFORM_HOST,
  type Surroundings,
  startSurroundings,
} from '../../support/domains/domain-rig.js';
import { eventually } from '../../support/eventually.js';
import { createServices, DATABASE_SCHEMA, SCOPES } from '../../support/gateway/tested-gateway.js';
import { type GatewayProcess, startGateway } from '../../support/gateway-process.js';
import { freePort } from '../../support/servers/daemon.js';

const DOMAINS = 12;
const CONNECTIONS = 200;
/** Not a promised time. */
const PATIENCE_MS = 120_000;
const actor = { name: 'test', requestId: null };
const nameOf = (index: number) => `shop.customer-${index}.test`;

describe.each([sharedDatabase()])('two processes on %s', (kind) => {
  let database: TestDatabase;
  let around: Surroundings;
  let asked: GatewayProcess;
  let ordering: GatewayProcess;
  let owner: ReturnType<typeof ownerOf>;

  beforeEach(async () => {
    database = await createTestDatabase(kind);
    const target = loadConfig({ DATABASE_URL: database.url }).database;
    await migrate(target, DATABASE_SCHEMA);
    const httpPort = await freePort();
    around = await startSurroundings(httpPort);
    const start = (env: Record<string, string>) =>
      startGateway({
        env: { DATABASE_URL: database.url, ...around.env, ...env },
        nodeArgs: ['--max-old-space-size=512'],
        maxDescriptors: 1_024,
      });
    // The CA validates at the first process, which places no order itself. D-75.
    asked = await start({ PORT: String(httpPort), ACME_DIRECTORY_URL: '' });
    ordering = await start({ HTTPS_PORT: String(await freePort()) });
    const db = await Database.open(target, DATABASE_SCHEMA);
    const { projects, apiKeys } = createServices(db, Date.now);
    const quotas = { plan: 'ENTERPRISE', perMinute: 1_000_000, perDay: 1_000_000 } as const;
    const { id } = await projects.create(actor, { slug: 'owner', name: null, ...quotas });
    await projects.publish(actor, id);
    const wanted = { projectId: id, name: 'test', scopes: SCOPES, expiresAtMs: null };
    owner = ownerOf(ordering, await apiKeys.create(actor, wanted));
    await db.close();
  });
  afterEach(async () => {
    await Promise.all([asked, ordering].map((gateway) => gateway.kill('SIGKILL')));
    await around.stop();
    await database.remove();
  });

  test.each([
    ['of hosts that are not attached', (index: number) => `host-${index}.unknown.test`],
    ['of a host that is being validated', () => nameOf(0)],
  ])(
    `Attack-7: ${CONNECTIONS} connections that ask for unknown tokens %s fail no validation`,
    async (_, hostAt) => {
      const flood = new RequestFlood(asked.url, {
        connections: CONNECTIONS,
        // The DNS server of the CA runs in this process, too.
        betweenMs: 80,
        ask: (index) => ({
          path: `/.well-known/acme-challenge/unknown-${index}`,
          headers: { host: hostAt(index) },
        }),
      });
      try {
        await eventually('the flood', () => flood.answered > 2 * CONNECTIONS);
        const ids: string[] = [];
        for (let index = 0; index < DOMAINS; index += 1) {
          ids.push((await owner.add(nameOf(index))).id);
          around.dns.set(nameOf(index), 'CNAME', PLATFORM_HOST);
        }
        await Promise.all(ids.map((id) => owner.verify(id)));
        await eventually(
          `${DOMAINS} certificates`,
          async () => {
            // A key has 120 operations in a minute.
            await pause(600);
            const { domains } = await owner.ask('{ domains { status diagnoses { code } } }');
            const statuses = domains.map(({ status }: { status: string }) => status);
            if (statuses.every((status: string) => status === 'ACTIVE')) return true;
            throw new Error(JSON.stringify(domains));
          },
          PATIENCE_MS,
        );
      } finally {
        await flood.stop();
      }
      // Each order was validated at its first attempt.
      for (let index = 0; index < DOMAINS; index += 1) expect(around.ca.newOrders(nameOf(index))).toBe(1);
      for (const status of flood.answers.keys()) expect([404, 429]).toContain(status);
      expect(asked.faults()).toEqual([]);
    },
  );
});
