import { AcmeClient } from '../../../src/domains/certificates/acme/acme-client.js';
import { CertificateAuthority } from '../../../src/domains/certificates/certificate-authority.js';
import type { OrderRequest } from '../../../src/domains/certificates/orders/order-attempt.js';
import { AcmeOrder } from '../../../src/domains/certificates/store/acme-order.entity.js';
import type { NewCertificate } from '../../../src/domains/certificates/store/certificate.store.js';
import { Challenges } from '../../../src/domains/certificates/store/challenges.js';
import { Sealer } from '../../../src/domains/certificates/store/sealer.js';
import { type AcmeSettings, loadConfig } from '../../../src/ground/config/config.js';
import { Database } from '../../../src/ground/database/database.js';
import { IdGenerator } from '../../../src/ground/kernel/ids.js';
import { migrate } from '../../../src/ground/migrating/migrate.js';
import { createTestDatabase, type DatabaseKind } from '../databases.js';
import { DATABASE_SCHEMA } from '../gateway/tested-gateway.js';
import { startLoopbackNames } from '../loopback-names.js';
import { type Pebble, type PebbleOptions, startPebble } from '../servers/pebble.js';
import { type AcmeProxy, startAcmeProxy } from './acme-proxy.js';
import { type ChallengeServer, startChallengeServer } from './challenge-server.js';

export const NEVER = new AbortController().signal;
export const SEALING_KEY = Buffer.alloc(32, 7);

/** Everything that issuance needs: names, a CA behind its proxy, a database, and the HTTP door that the CA asks. */
export interface AcmeRig {
  pebble: Pebble;
  proxy: AcmeProxy;
  door: ChallengeServer;
  /** The challenges that the door answers. */
  challenges: Challenges;
  db: Database;
  /** Added to the real time, which the CA uses. */
  clock: { aheadMs: number };
  now(): number;
  /** Creates the authority of another process; all of them share the rig's database. */
  authority(options?: AuthorityOptions): CertificateAuthority;
  orders(hostname: string): Promise<AcmeOrder[]>;
  stop(): Promise<void>;
}

interface AuthorityOptions {
  /** Default: the proxy's. */
  directoryUrl?: string;
  settings?: Partial<AcmeSettings>;
  /** Timeout of one request. */
  requestTimeoutMs?: number;
  /** Timeout of a whole order. */
  orderTimeoutMs?: number;
  sealingKeys?: Buffer[];
  random?: () => number;
}

export async function startAcmeRig({
  kind = 'sqlite',
  pebble: pebbleOptions = {},
}: {
  kind?: DatabaseKind;
  pebble?: Partial<PebbleOptions>;
} = {}): Promise<AcmeRig> {
  const database = await createTestDatabase(kind);
  const target = loadConfig({ DATABASE_URL: database.url }).database;
  await migrate(target, DATABASE_SCHEMA);
  const db = await Database.open(target, DATABASE_SCHEMA);
  const names = await startLoopbackNames();
  const clock = { aheadMs: 0 };
  const now = () => Date.now() + clock.aheadMs;
  const challenges = new Challenges(db, now);
  const door = await startChallengeServer((token, hostname) => challenges.answer(token, hostname));
  const pebble = await startPebble({ dnsServer: names.address, httpPort: door.port, ...pebbleOptions });
  const proxy = await startAcmeProxy(pebble, { refusesByCaa: (hostname) => hostname.startsWith('caa-') });

  return {
    pebble,
    proxy,
    door,
    challenges,
    db,
    clock,
    now,
    authority({ directoryUrl, settings, requestTimeoutMs, orderTimeoutMs, sealingKeys, random } = {}) {
      const client = new AcmeClient(
        {
          directoryUrl: directoryUrl ?? proxy.directoryUrl,
          email: 'operator@example.com',
          caFile: pebble.caFile,
          caaIdentities: [],
          profile: null,
          limits: { ordersIn3Hours: 300, certificatesInAWeek: 50 },
          ...settings,
        },
        now,
        requestTimeoutMs,
      );
      const sealer = new Sealer(sealingKeys ?? [SEALING_KEY]);
      const parts = { db, ids: new IdGenerator(now), sealer };
      const options = { now, ...(random ? { random } : {}) };
      return new CertificateAuthority(client, parts, options, orderTimeoutMs);
    },
    orders: (hostname) =>
      db.repository(AcmeOrder).find({ where: { hostname }, order: { startedAtMs: 'ASC', id: 'ASC' } }),
    async stop() {
      await proxy.stop();
      await pebble.stop();
      await door.stop();
      await names.stop();
      await db.close();
      await database.remove();
    },
  };
}

let domains = 0n;

/** Returns a first order for `hostname`, of another domain at each call. */
export function orderOf(hostname: string, changes: Partial<OrderRequest> = {}): OrderRequest {
  const registrableDomain = hostname.split('.').slice(-2).join('.');
  return {
    domainId: ++domains,
    projectId: 1n,
    hostname,
    registrableDomain,
    replaces: null,
    isCertified: false,
    ...changes,
  };
}

const ids = new IdGenerator(Date.now);

/** Inserts an order that waits for its validation. */
export function insertOrder(
  db: Database,
  waiting: Pick<AcmeOrder, 'hostname' | 'keyAuthorization' | 'challengeEndsAtMs'>,
) {
  const planned = { projectId: 1n, registrableDomain: 'test', isRenewal: false, startedAtMs: Date.now() };
  return db.repository(AcmeOrder).insert({ id: ids.next(), domainId: ++domains, ...planned, ...waiting });
}

/** Orders a certificate and waits for it. */
export function issue(
  authority: CertificateAuthority,
  hostname: string,
  changes: Partial<OrderRequest> = {},
): Promise<NewCertificate> {
  const hooks = { signal: new AbortController().signal, onOrdered: async () => {} };
  return authority.order(orderOf(hostname, changes), hooks);
}
