import { once } from 'node:events';
import { Agent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { expect, test } from '@jest/globals';
import { KNOWLEDGE_MS } from '../../src/domains/hosts/host-index.js';
import { createTestDatabase, databaseKinds } from '../support/databases.js';
import {
  ask,
  attach,
  change,
  handshake,
  plain,
  remove,
  renew,
  type ServingApp,
  startAnother,
  startServing,
  type Visit,
  visit,
} from '../support/domains/served-domain.js';
import { eventually } from '../support/eventually.js';
import { startFaultProxy } from '../support/http/fault-proxy.js';
import { testOnMysql } from '../support/on-databases.js';
import { slowness } from '../support/own-time.js';
import { freePort } from '../support/servers/daemon.js';
import { TEST_ACTOR } from '../support/start-app.js';

const HOST = 'shop.example.com';
const HTTPS = { 'x-forwarded-proto': 'https' };
const VERSIONS = ['TLSv1.2', 'TLSv1.3'] as const;

const isServed = (app: { httpsPort: number }, host = HOST) =>
  visit(app, host, '/v1/openapi.json').then(
    ({ status }) => status === 200,
    () => false,
  );

async function withShop(
  kind: Parameters<typeof startServing>[0],
  work: (app: ServingApp, shop: Awaited<ReturnType<typeof attach>>, slug: string) => Promise<void>,
): Promise<void> {
  const app = await startServing(kind);
  try {
    const { projectId, slug } = await app.tenant({ plan: 'PRO' });
    const shop = await attach(app, projectId, { hostname: HOST });
    await eventually('served', () => isServed(app));
    await work(app, shop, slug);
  } finally {
    await app.stop();
  }
}

/** Returns a TLS session that a client can resume; the server sends it with its first answer. */
async function sessionOf(socket: TLSSocket): Promise<Buffer> {
  await ask(socket, HOST, '/healthz');
  const session = socket.getSession();
  socket.destroy();
  if (!session) throw new Error('the server gave no session');
  return session;
}

test.each(databaseKinds())(
  'Domains-11: within a second of its removal nothing serves a domain on %s: kept-alive connections, resumed sessions, other processes',
  (kind) =>
    withShop(kind, async (app, shop) => {
      const behindProxy = { httpsPort: 0, publicHttpsPort: null, trustedProxies: ['127.0.0.1'] };
      const other = await startAnother(app, { httpsPort: await freePort() });
      const proxied = await startAnother(app, behindProxy);
      const keptAlive = new Agent({ keepAlive: true });
      const plainly = () => plain(proxied, HOST, '/v1/openapi.json', { headers: HTTPS, agent: keptAlive });
      try {
        const idle = await Promise.all([app, other].map((one) => handshake(one, HOST)));
        const tickets = await Promise.all(
          VERSIONS.map(async (maxVersion) => {
            const session = await sessionOf(await handshake(app, HOST, { maxVersion }));
            return { maxVersion, session };
          }),
        );
        for (const ticket of tickets) {
          expect((await handshake(app, HOST, ticket)).isSessionReused()).toBe(true);
        }
        expect(await isServed(other)).toBe(true);
        expect((await plainly()).status).toBe(200);

        const closed = Promise.all(idle.map((socket) => once(socket, 'close')));
        await remove(app, shop);
        const removedAt = performance.now();
        await closed;
        expect(performance.now() - removedAt).toBeLessThan(KNOWLEDGE_MS);
        await eventually('so old', () => performance.now() - removedAt > KNOWLEDGE_MS, 2_000);

        expect(await plainly()).toMatchObject({ status: 421, code: 'misdirected' });
        for (const one of [app, other]) await expect(handshake(one, HOST)).rejects.toThrow(/alert/);
        for (const ticket of tickets) {
          await expect(handshake(app, HOST, ticket)).rejects.toThrow(/alert/);
        }
        expect(await plain(app, HOST, '/v1/toys')).toMatchObject({ status: 421 });
      } finally {
        keptAlive.destroy();
        await other.close();
        await proxied.close();
      }
    }),
);

test('Domains-Removal-1: a domain that is no longer served is refused even on connections that stay open', () =>
  withShop('sqlite', async (app, shop) => {
    const agent = new HttpsAgent({ keepAlive: true, maxSockets: 1 });
    expect((await visit(app, HOST, '/v1/openapi.json', { agent })).status).toBe(200);
    // A certificate that expires does not close its connections.
    await change(app, shop.id, { certificateEndsAtMs: app.clock.now - 1 });
    await eventually('refused', async () => (await visit(app, HOST, '/v1/toys', { agent })).status === 421);
    agent.destroy();
  }));

test.each(VERSIONS)(
  'Domains-Removal-5: a resumed session (%s) of a host whose certificate has expired is closed',
  (maxVersion) =>
    withShop('sqlite', async (app, shop) => {
      const session = await sessionOf(await handshake(app, HOST, { maxVersion }));
      await change(app, shop.id, { certificateEndsAtMs: app.clock.now - 1 });
      await eventually('refused', () => isServed(app).then((served) => !served));
      const resumed = await handshake(app, HOST, { maxVersion, session });
      expect(resumed.isSessionReused()).toBe(true);
      await eventually('closed', () => resumed.destroyed, 5_000);
    }),
);

test('Domains-Removal-2: the name can be attached to another project at once, and is served for that project only', () =>
  withShop('sqlite', async (app, shop) => {
    const next = await app.tenant({ plan: 'PRO' });
    await remove(app, shop);
    await attach(app, next.projectId, { hostname: HOST });
    const served = async () => (await visit(app, HOST, '/v1/toys', { token: next.token })).status === 200;
    await eventually('served', () => served().catch(() => false));
    // A later change of the removed row must not affect the new owner.
    await change(app, shop.id, { failedOrders: 1 });
    await eventually('known', () => app.app.hosts.sync().then(() => true));
    expect(await served()).toBe(true);
  }));

test.each(databaseKinds())(
  'Domains-Removal-3: on %s the plan Free suspends service within a second, a paid plan restores it',
  (kind) =>
    withShop(kind, async (app, _, slug) => {
      const idle = await handshake(app, HOST);
      const closed = once(idle, 'close');
      await app.app.services.projects.change(TEST_ACTOR, slug, { plan: 'FREE' });
      await closed;
      expect(await isServed(app)).toBe(false);
      expect((await plain(app, HOST, '/v1/toys')).status).toBe(421);
      await app.app.services.projects.change(TEST_ACTOR, slug, { plan: 'BUSINESS' });
      await eventually('served again', () => isServed(app), 1_000 * (await slowness()));
    }),
);

test('Domains-TLS-6: a renewed certificate is presented to new connections, and no request fails meanwhile', () =>
  withShop('sqlite', async (app, shop) => {
    const keptAlive = new HttpsAgent({ keepAlive: true });
    const answers: Visit[] = [];
    let isRenewed = false;
    const load = async (agent?: HttpsAgent) => {
      while (!isRenewed || answers.length <= 20)
        answers.push(await visit(app, HOST, '/v1/openapi.json', agent ? { agent } : {}));
    };
    const loads = [load(), load(), load(keptAlive)];
    const serial = async () => (await handshake(app, HOST)).getPeerCertificate().serialNumber;
    const before = await serial();
    await renew(app, shop);
    await eventually('renewed', async () => (await serial()) !== before, 1_000 * (await slowness()));
    isRenewed = true;
    await Promise.all(loads);
    keptAlive.destroy();
    expect(answers.length).toBeGreaterThan(20);
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  }));

testOnMysql(
  'Reliability-9: while the database is away a domain answers 503, not the last known state',
  async () => {
    const database = await createTestDatabase('mysql');
    const url = new URL(database.url);
    const proxy = await startFaultProxy(Number(url.port));
    url.port = String(proxy.port);
    const app = await startServing('sqlite', { env: { DATABASE_URL: url.href } });
    const agent = new HttpsAgent({ keepAlive: true });
    const get = () => visit(app, HOST, '/v1/openapi.json', { agent });
    try {
      const { projectId } = await app.tenant();
      await attach(app, projectId, { hostname: HOST });
      await eventually('served', () => isServed(app));
      for (const fault of ['black hole', 'refuse'] as const) {
        await get();
        await proxy.set(fault);
        const awayAt = performance.now();
        await eventually('so old', () => performance.now() - awayAt > KNOWLEDGE_MS);
        const sentAt = performance.now();
        const answers = await Promise.all([get(), get(), plain(app, HOST, '/v1/toys')]);
        expect(performance.now() - sentAt).toBeLessThan(5_000);
        for (const { status, code, headers } of answers) {
          expect([status, code, headers['retry-after']]).toEqual([503, 'unavailable', '1']);
        }
        expect((await plain(app, 'localhost', '/v1/openapi.json')).status).toBe(200);
        await proxy.set('pass');
        await eventually('served again', async () => (await get()).status === 200);
      }
    } finally {
      agent.destroy();
      await app.stop();
      await proxy.stop();
      await database.remove();
    }
  },
);
