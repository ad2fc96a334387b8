import { setTimeout as sleep } from 'node:timers/promises';
import type { AcmeClient } from '../certificates/acme/acme-client.js';
import { CertificateAuthority } from '../certificates/certificate-authority.js';
import { AcmeAccounts } from '../certificates/orders/acme-accounts.js';
import { OrderFlow, type Wait } from '../certificates/orders/order-flow.js';
import { OrderLog } from '../certificates/orders/order-log.js';
import type { Random } from '../certificates/orders/renewal.js';
import { Challenges } from '../certificates/store/challenges.js';
import type { Sealer } from '../certificates/store/sealer.js';
import type { Database } from '../database/database.js';
import type { IdGenerator } from '../kernel/ids.js';

interface CertificateAuthorityParts {
  client: AcmeClient;
  db: Database;
  sealer: Sealer;
  ids: IdGenerator;
  now: () => number;
  random?: Random;
  /** Between two polls of an order. */
  wait?: Wait;
  /** The timeout of a whole order. */
  timeoutMs?: number;
}

/** The certificate authority with its accounts, orders and challenges. */
export function createCertificateAuthority({
  client,
  db,
  sealer,
  ids,
  now,
  random = Math.random,
  wait = (ms, signal) => sleep(ms, undefined, { signal }),
  ...settings
}: CertificateAuthorityParts): CertificateAuthority {
  const accounts = new AcmeAccounts(client, db, sealer, now);
  const challenges = new Challenges(db, now);
  const log = new OrderLog(db, ids, client.settings.limits, now);
  const flow = new OrderFlow(client, challenges, wait);
  return new CertificateAuthority(
    { client, accounts, flow, log, challenges, sealer },
    { now, random, ...settings },
  );
}
