import { MoreThan } from 'typeorm';
import { CertificateAuthority } from '../../../src/domains/certificates/certificate-authority.js';
import { AcmeOrder } from '../../../src/domains/certificates/store/acme-order.entity.js';
import { CertificateStore } from '../../../src/domains/certificates/store/certificate.store.js';
import { Sealer } from '../../../src/domains/certificates/store/sealer.js';
import type { Inspection } from '../../../src/domains/diagnosis/diagnose.js';
import { DomainCheck } from '../../../src/domains/lifecycle/domain-check.js';
import { DomainIssuance } from '../../../src/domains/lifecycle/domain-issuance.js';
import { DomainStore } from '../../../src/domains/store/domain.store.js';
import { loadConfig } from '../../../src/ground/config/config.js';
import { Database } from '../../../src/ground/database/database.js';
import { createServices, DATABASE_SCHEMA } from '../gateway/tested-gateway.js';
import { TEST_ACTOR } from '../start-app.js';
import { attach } from './served-domain.js';
import { createSimulatedAuthority, PRESENT } from './simulated-authority.js';

/**
 * The real issuance on an SQLite database, with a simulated clock, a simulated CA, and DNS that always points here. Nothing
 * runs until the test runs it.
 */
export async function startSimulatedIssuance(startMs: number) {
  const clock = { now: startMs };
  const now = () => clock.now;
  const random = seededRandom();
  const config = loadConfig({ DATABASE_URL: 'sqlite::memory:', SECRET_KEY: 'ab'.repeat(32) });
  const db = await Database.open(config.database, DATABASE_SCHEMA);
  const { projects, ids } = createServices(db, now);
  const policy = { ...PRESENT };
  const challengeAnswer = async (_token: string, hostname: string) => {
    const where = { hostname, challengeEndsAtMs: MoreThan(now()) };
    const order = { challengeEndsAtMs: 'DESC', id: 'DESC' } as const;
    return (await db.repository(AcmeOrder).findOne({ where, order }))?.keyAuthorization ?? null;
  };
  const ca = createSimulatedAuthority({ now, policy, challengeAnswer });
  const { client } = ca;
  const sealer = new Sealer(config.secretKeys);
  const wait = async (ms: number) => {
    clock.now += ms;
  };
  const authority = new CertificateAuthority(client, { db, ids, sealer }, { now, random, wait });
  const store = new DomainStore(db, ids, { onEvent() {}, onChange() {}, async syncHosts() {} }, now);
  const certificates = new CertificateStore(db, ids);
  const inspect = async (): Promise<Inspection> => ({
    leadsHere: true,
    isReachingUs: true,
    isOwnershipProved: null,
    proofs: [],
    isUnderWildcard: false,
    isApex: false,
    diagnoses: [],
  });
  const check = new DomainCheck({ store, inspect, onDue() {} }, now);
  // No CAA record.
  const ask = async () => ({ rcode: 'NOERROR', records: [] }) as never;
  const issuance = new DomainIssuance(
    {
      db,
      store,
      check,
      authority,
      order: (request, hooks) => authority.order(request, hooks),
      certificates,
      ask,
      platformHost: 'petstore.test',
    },
    now,
  );
  const wanted = { slug: 'owner', name: null, plan: 'PRO', perMinute: null, perDay: null } as const;
  const project = await projects.create(TEST_ACTOR, wanted);
  return {
    clock,
    now,
    random,
    policy,
    ca,
    db,
    store,
    certificates,
    issuance,
    /** A verified domain without a certificate, whose first order is due. */
    attach: (hostname: string) =>
      attach({ db, clock, config }, project.id, { hostname, certificate: false, nextOrderAtMs: now() }),
    stop: () => db.close(),
  };
}

/** Returns the same numbers in each run. */
function seededRandom(): () => number {
  let state = 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
