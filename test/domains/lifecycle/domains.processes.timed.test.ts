import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Certificate } from '../../../src/domains/certificates/store/certificate.store.js';
import { loadConfig } from '../../../src/ground/config/config.js';
import { Database } from '../../../src/ground/database/database.js';
import { migrate } from '../../../src/ground/migrating/migrate.js';
import { createTestDatabase, sharedDatabase, type TestDatabase } from '../../support/databases.js';
import {
  ownerOf,
  PLATFORM_HOST,
  type Surroundings,
  startSurroundings,
} from '../../support/domains/domain-rig.js';
import { visit } from '../../support/domains/served-domain.js';
import { eventually } from '../../support/eventually.js';
import { createServices, DATABASE_SCHEMA, SCOPES } from '../../support/gateway/tested-gateway.js';
import { type GatewayProcess, startGateway } from '../../support/gateway-process.js';
import { freePort } from '../../support/servers/daemon.js';

const DOMAINS = 60;
/** Not a promised time: the orders of 60 domains and three processes share the processors with everything else. */
const PATIENCE_MS = 150_000;
const actor = { name: 'test', requestId: null };

type Served = GatewayProcess & { httpsPort: number };

describe.each([sharedDatabase()])('three processes on %s', (kind) => {
  let database: TestDatabase;
  let db: Database;
  let around: Surroundings;
  let gateways: Served[];
  let token: string;
  /** A second key of the same project: a key may ask 120 times a minute. */
  let second: string;

  beforeEach(async () => {
    database = await createTestDatabase(kind);
    const target = loadConfig({ DATABASE_URL: database.url }).database;
    await migrate(target, DATABASE_SCHEMA);
    db = await Database.open(target, DATABASE_SCHEMA);
    const httpPort = await freePort();
    around = await startSurroundings(httpPort);
    const start = async (port: number) => {
      const httpsPort = await freePort();
      const ports = { PORT: String(port), HTTPS_PORT: String(httpsPort) };
      const gateway = await startGateway({ env: { DATABASE_URL: database.url, ...around.env, ...ports } });
      return Object.assign(Object.create(gateway), { httpsPort }) as Served;
    };
    // The CA validates at the first process only, whichever process ordered.
    gateways = await Promise.all([httpPort, 0, 0].map(start));
    const { projects, apiKeys } = createServices(db, Date.now);
    const quotas = { plan: 'ENTERPRISE', perMinute: 1_000_000, perDay: 1_000_000 } as const;
    const project = await projects.create(actor, { slug: 'owner', name: null, ...quotas });
    await projects.publish(actor, project.id);
    const wanted = { projectId: project.id, name: 'test', scopes: SCOPES, expiresAtMs: null };
    token = (await apiKeys.create(actor, wanted)).token;
    second = (await apiKeys.create(actor, wanted)).token;
  });
  afterEach(async () => {
    await Promise.all(gateways.map((gateway) => gateway.kill('SIGKILL')));
    await around.stop();
    await db.close();
    await database.remove();
  });

  const at = (index: number) => gateways[index % gateways.length] as Served;
  // Each name has its own registered domain: certificates of one registered domain count together.
  const nameOf = (index: number) => `shop.customer-${index}.test`;

  /**
   * The second process orders for the name, and the CA keeps its order waiting. The other processes stand still until
   * `release`, so that none of them takes the order.
   */
  async function holdOrder(name: string) {
    const orderer = at(1);
    const others = [at(0), at(2)];
    const { id } = await ownerOf(orderer, { token }).add(name);
    around.dns.set(name, 'CNAME', PLATFORM_HOST);
    await Promise.all(others.map((gateway) => gateway.kill('SIGSTOP')));
    const answer = around.ca.inject(({ resource }) => resource === 'challenge', { kind: 'hang' });
    await ownerOf(orderer, { token }).verify(id);
    await eventually('the challenge', () => around.ca.calls.some(({ resource }) => resource === 'challenge'));
    const release = async () => {
      answer();
      await Promise.all(others.map((gateway) => gateway.kill('SIGCONT')));
    };
    return { id, orderer, release };
  }

  test(`${DOMAINS} domains verified at once have ${DOMAINS} certificates, and none was ordered twice`, async () => {
    const names = Array.from({ length: DOMAINS }, (_, index) => nameOf(index));
    const ids: string[] = [];
    for (const [index, name] of names.entries()) {
      ids.push((await ownerOf(at(index), { token }).add(name)).id);
      around.dns.set(name, 'CNAME', PLATFORM_HOST);
    }
    // A machine too slow for all of them in 5 s answers some with 503; those requests are repeated, as the answer says.
    const verify = (id: string, index: number) =>
      eventually(`an answer for ${id}`, () =>
        ownerOf(at(index), { token: second })
          .verify(id)
          .then(
            () => true,
            ({ code }) => expect(code).toBe('UNAVAILABLE'),
          ),
      );
    await Promise.all(ids.map(verify));
    const { ask } = ownerOf(at(0), { token });
    await eventually(
      `${DOMAINS} certificates`,
      async () => {
        // Polled rarely: the DNS server that the CA asks runs in this process, and a key has 120 operations in a minute.
        await pause(600);
        const { domains } = await ask('{ domains { status } }');
        return domains.every(({ status }: { status: string }) => status === 'ACTIVE');
      },
      PATIENCE_MS,
    );
    expect(names.map((name) => around.ca.newOrders(name))).toEqual(names.map(() => 1));
    expect(await db.repository(Certificate).count()).toBe(DOMAINS);
    for (const gateway of gateways) {
      expect((await visit(gateway, nameOf(7), '/v1/toys', { token })).status).toBe(200);
      expect(gateway.faults()).toEqual([]);
    }
    // Once a removal is answered, no process serves the domain.
    const { stoppedAt } = await ownerOf(at(0), { token }).remove(ids[7] ?? '');
    expect(Date.parse(stoppedAt)).toBeLessThanOrEqual(Date.now());
    for (const gateway of gateways) {
      await expect(visit(gateway, nameOf(7), '/v1/toys', { token })).rejects.toThrow();
    }
  }, 300_000);

  test('kill -9 in the middle of an order: another process completes the order', async () => {
    const name = nameOf(1);
    const { id, orderer, release } = await holdOrder(name);
    await orderer.kill('SIGKILL');
    await release();
    const { timeline } = await ownerOf(at(2), { token }).become(id, 'ACTIVE', PATIENCE_MS);
    expect(around.ca.newOrders(name)).toBe(1);
    expect(timeline.map((event: { name: string }) => event.name)).toEqual([
      'certificate.issued',
      'certificate.ordered',
      'domain.verified',
      'domain.added',
    ]);
  });

  test('a shutdown (SIGINT) in the middle of an order: another process takes over at once', async () => {
    const name = nameOf(2);
    const { id, orderer, release } = await holdOrder(name);
    await orderer.kill('SIGINT');
    expect(await orderer.ended).toMatchObject({ code: 0 });
    await release();
    await ownerOf(at(2), { token }).become(id, 'ACTIVE', 8_000);
    expect(around.ca.newOrders(name)).toBe(1);
  });
});
