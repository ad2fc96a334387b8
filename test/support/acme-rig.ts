import { AcmeClient } from '../../src/certificates/acme-client.js';
import { AcmeOrder } from '../../src/certificates/acme-order.entity.js';
import type { NewCertificate } from '../../src/certificates/certificate.entity.js';
import { CertificateAuthority, type OrderRequest } from '../../src/certificates/certificate-authority.js';
import { Sealer } from '../../src/certificates/sealer.js';
import { type AcmeSettings, loadConfig } from '../../src/config.js';
import { Database } from '../../src/database/database.js';
import { migrate } from '../../src/database/migrate.js';
import { IdGenerator } from '../../src/ids.js';
import { type AcmeProxy, startAcmeProxy } from './acme-proxy.js';
import { type ChallengeServer, startChallengeServer } from './challenge-server.js';
import { createTestDatabase, type DatabaseKind } from './databases.js';
import { startLoopbackNames } from './loopback-names.js';
import { type Pebble, type PebbleOptions, startPebble } from './servers/pebble.js';

export const NEVER = new AbortController().signal;
export const SEALING_KEY = Buffer.alloc(32, 7);

/** Everything that issuing takes: names, a CA, the proxy in front of it, a database, and the HTTP door the CA asks. */
export interface AcmeRig {
  pebble: Pebble;
  proxy: AcmeProxy;
  door: ChallengeServer;
  db: Database;
  /** Added to the real time, which the CA goes by. */
  clock: { aheadMs: number };
  now(): number;
  /** What one process has. All processes of a rig share its database. */
  authority(options?: AuthorityOptions): CertificateAuthority;
  orders(hostname: string): Promise<AcmeOrder[]>;
  stop(): Promise<void>;
}

interface AuthorityOptions {
  /** By default the proxy's. */
  directoryUrl?: string;
  settings?: Partial<AcmeSettings>;
  /** Of one request. */
  requestTimeoutMs?: number;
  /** Of a whole order. */
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
  await migrate(target);
  const db = await Database.open(target);
  const names = await startLoopbackNames();
  const clock = { aheadMs: 0 };
  const now = () => Date.now() + clock.aheadMs;
  const authorities: CertificateAuthority[] = [];
  const door = await startChallengeServer(async (token, hostname) => {
    // Any process may be asked.
    const process = authorities.at(-1);
    return process ? process.challengeAnswer(token, hostname) : null;
  });
  const pebble = await startPebble({ dnsServer: names.address, httpPort: door.port, ...pebbleOptions });
  const proxy = await startAcmeProxy(pebble, { refusesByCaa: (hostname) => hostname.startsWith('caa-') });

  return {
    pebble,
    proxy,
    door,
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
          ...settings,
        },
        now,
        requestTimeoutMs === undefined ? {} : { timeoutMs: requestTimeoutMs },
      );
      const sealer = new Sealer(sealingKeys ?? [SEALING_KEY]);
      const authority = new CertificateAuthority(client, db, sealer, {
        ids: new IdGenerator(now),
        now,
        ...(random ? { random } : {}),
        ...(orderTimeoutMs === undefined ? {} : { timeoutMs: orderTimeoutMs }),
      });
      authorities.push(authority);
      return authority;
    },
    orders: (hostname) =>
      db.repository(AcmeOrder).find({ where: { hostname }, order: { startedAtMs: 'ASC', id: 'ASC' } }),
    async stop() {
      for (const authority of authorities) authority.close();
      await proxy.stop();
      await pebble.stop();
      await door.stop();
      await names.stop();
      await db.close();
      await database.remove();
    },
  };
}

/** A first order for `hostname`. */
export function orderOf(hostname: string, changes: Partial<OrderRequest> = {}): OrderRequest {
  const registrableDomain = hostname.split('.').slice(-2).join('.');
  return {
    domainId: 1n,
    projectId: 1n,
    hostname,
    registrableDomain,
    resume: null,
    replaces: null,
    ...changes,
  };
}

/** Orders and waits for the certificate. */
export async function issue(
  authority: CertificateAuthority,
  hostname: string,
  changes: Partial<OrderRequest> = {},
): Promise<NewCertificate> {
  const hooks = { signal: new AbortController().signal, onOrdered: async () => {} };
  return (await authority.order(orderOf(hostname, changes), hooks)).certificate;
}
