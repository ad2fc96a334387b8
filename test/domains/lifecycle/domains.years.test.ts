import { X509Certificate } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { createCertificateAuthority } from '../../../src/app/certificate-authority.js';
import { DATABASE_SCHEMA } from '../../../src/app/database-schema.js';
import { createServices } from '../../../src/app/services.js';
import { AcmeChallenge } from '../../../src/certificates/challenges/acme-challenge.entity.js';
import { CertificateOrderError } from '../../../src/certificates/orders/order-failure.js';
import { CertificateStore } from '../../../src/certificates/store/certificate.store.js';
import { Sealer } from '../../../src/certificates/store/sealer.js';
import { loadConfig } from '../../../src/config/config.js';
import { Database } from '../../../src/database/database.js';
import type { Inspection, Inspector } from '../../../src/domains/diagnosis/inspector.js';
import { HEALTH_CHECK_MS } from '../../../src/domains/lifecycle/back-off.js';
import { DomainCheck } from '../../../src/domains/lifecycle/domain-check.js';
import { DomainIssuance } from '../../../src/domains/lifecycle/domain-issuance.js';
import { DomainLeases } from '../../../src/domains/lifecycle/domain-lease.js';
import { OwnerChecks } from '../../../src/domains/lifecycle/owner-checks.js';
import type { Domain } from '../../../src/domains/store/domain.entity.js';
import { DomainStore } from '../../../src/domains/store/domain.store.js';
import { Timeline } from '../../../src/domains/store/timeline.js';
import { attach } from '../../support/domains/served-domain.js';
import { createSimulatedAuthority, type Policy } from '../../support/domains/simulated-authority.js';
import { isLongRun } from '../../support/long-run.js';
import { TEST_ACTOR } from '../../support/start-app.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NEVER = new AbortController().signal;
const DOMAINS = isLongRun ? 100 : 10;
/** A week of six-day certificates of these has more renewals than the CA allows first certificates. */
const NAMES_OF_ZONE = 50;
const END_MS = Date.parse('2032-01-01');

/** A third of the lifetime before the end, half of a short one, as Let's Encrypt advises. */
const usual: Policy['window'] = ({ notBeforeMs, notAfterMs }) => {
  const lifetimeMs = notAfterMs - notBeforeMs;
  const idealMs = notAfterMs - lifetimeMs / (lifetimeMs < 10 * DAY_MS ? 2 : 3);
  return { startMs: idealMs - lifetimeMs / 100, endMs: idealMs + lifetimeMs / 100 };
};
const atOnce: Policy['window'] = ({ issuedAtMs }) => ({ startMs: issuedAtMs, endMs: issuedAtMs + HOUR_MS });
const late: Policy['window'] = ({ notAfterMs }) => ({
  startMs: notAfterMs - 3 * HOUR_MS,
  endMs: notAfterMs - HOUR_MS,
});

const SIX_DAYS = { lifetimeMs: 160 * HOUR_MS };
const HERE: Policy = {
  lifetimeMs: 90 * DAY_MS,
  reuseMs: 30 * DAY_MS,
  window: usual,
  reach: 'whole',
  knowsReplaced: true,
};

/** What changes at the CA, and when. */
const CALENDAR: [at: string, change: Partial<Policy>][] = [
  ['2027-01-01', HERE],
  ['2027-02-10', { lifetimeMs: 64 * DAY_MS, reuseMs: 10 * DAY_MS }],
  // Two days away, in which the first renewals are due. Some orders began before.
  ['2027-02-28', { reach: 'half' }],
  ['2027-03-01', { reach: 'away' }],
  ['2027-03-03', { reach: 'whole' }],
  // All certificates are to be replaced at once.
  ['2027-08-01', { window: atOnce, ...SIX_DAYS }],
  ['2027-08-02', { window: usual }],
  ['2027-08-04', { reach: 'busy' }],
  ['2027-08-06', { reach: 'whole' }],
  ['2027-08-12', { lifetimeMs: 64 * DAY_MS }],
  ['2028-02-16', { lifetimeMs: 45 * DAY_MS, reuseMs: 7 * HOUR_MS }],
  ['2030-03-01', { window: null }],
  ['2030-05-01', { window: usual }],
  ['2031-10-01', { window: atOnce, ...SIX_DAYS }],
  ['2031-10-02', { window: late }],
  ['2031-10-07', { reach: 'away' }],
  ['2031-10-09', { reach: 'whole', window: usual }],
  ['2031-10-10', { knowsReplaced: false }],
  ['2031-10-17', { knowsReplaced: true, lifetimeMs: 45 * DAY_MS }],
];

/** The same numbers in each run. */
function seededRandom(): () => number {
  let state = 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/** A domain, with the time at which its next check asks the CA for renewal advice that it does not know yet. */
interface Simulated {
  domain: Domain;
  adviceAtMs: number;
  /** Its checks are at this time of each interval. */
  phaseMs: number;
}

test(`Renewal-4: from 2027 to 2031 ${DOMAINS} domains always have a valid certificate, of 64, 45 or 6 days, and meet no limit of the CA`, async () => {
  const clock = { now: Date.parse('2027-01-01') };
  const now = () => clock.now;
  const random = seededRandom();
  const config = loadConfig({ DATABASE_URL: 'sqlite::memory:', SECRET_KEY: 'ab'.repeat(32) });
  const db = await Database.open(config.database, DATABASE_SCHEMA);
  const { projects, ids } = createServices(db, now);
  const sealer = new Sealer(config.secretKeys);
  const policy = { ...HERE };
  const ca = createSimulatedAuthority({
    now,
    policy,
    challengeAnswer: async (token, hostname) =>
      (await db.repository(AcmeChallenge).findOneBy({ token, hostname }))?.keyAuthorization ?? null,
  });
  const wait = async (ms: number) => {
    clock.now += ms;
  };
  const authority = createCertificateAuthority({ client: ca.client, db, sealer, ids, now, random, wait });
  const store = new DomainStore(db, ids, new Timeline(ids, now, () => {}), now);
  const certificates = new CertificateStore(db, ids);
  // DNS is right all the time.
  const right = { leadsHere: true, isOwnershipProved: null, isUnderWildcard: false, isApex: false };
  const inspect = async (): Promise<Inspection> => ({ ...right, diagnoses: [], atMs: now() });
  const inspector = { inspect } as Partial<Inspector> as Inspector;
  const check = new DomainCheck(
    { store, projects, inspector, ownerChecks: new OwnerChecks(), onDue() {} },
    now,
  );
  const ask = async () => ({ rcode: 'NOERROR', records: [] }) as never;
  const leases = new DomainLeases(db, now);
  const announce = async () => {};
  const issuance = new DomainIssuance(
    { store, leases, check, projects, authority, certificates, ask, platformHost: 'petstore.test', announce },
    now,
  );
  const wanted = { slug: 'owner', name: null, plan: 'PRO', perMinute: null, perDay: null } as const;
  const project = await projects.create(TEST_ACTOR, wanted);
  const domains: Simulated[] = [];
  for (let index = 0; index < DOMAINS; index += 1) {
    const hostname = `shop-${index}.customer-${Math.floor(index / NAMES_OF_ZONE)}.test`;
    const row = { hostname, certificate: false, nextOrderAtMs: now() };
    const domain = await attach({ db, clock, config }, project.id, row);
    domains.push({ domain, adviceAtMs: Infinity, phaseMs: Math.floor(random() * HEALTH_CHECK_MS) });
  }

  /** The advice changes only with the certificate and with the CA, so only the checks after such changes are run. */
  const planAdvice = (simulated: Simulated) => {
    const { phaseMs } = simulated;
    const checksBefore = Math.ceil((now() + 1 - phaseMs) / HEALTH_CHECK_MS);
    simulated.adviceAtMs = checksBefore * HEALTH_CHECK_MS + phaseMs;
  };
  const changes = CALENDAR.map(([at, change]) => ({ atMs: Date.parse(at), change }));
  const change = () => {
    Object.assign(policy, changes.shift()?.change);
    for (const simulated of domains) if (simulated.domain.certificateId !== null) planAdvice(simulated);
  };
  const dueMs = ({ domain, adviceAtMs }: Simulated) => Math.min(adviceAtMs, domain.nextOrderAtMs ?? Infinity);
  const run = async (simulated: Simulated) => {
    const { domain } = simulated;
    if (simulated.adviceAtMs > now()) await issuance.run(domain);
    else {
      simulated.adviceAtMs = Infinity;
      await issuance.planRenewal(domain, NEVER).catch((error) => {
        if (!(error instanceof CertificateOrderError)) throw error;
      });
    }
    simulated.domain = (await store.findDomain(domain.id)) as Domain;
    if (simulated.domain.certificateId !== domain.certificateId) planAdvice(simulated);
  };

  const expired: string[] = [];
  for (;;) {
    const next = domains.reduce((first, other) => (dueMs(other) < dueMs(first) ? other : first));
    const changeAtMs = changes[0]?.atMs ?? END_MS;
    const atMs = Math.min(dueMs(next), changeAtMs);
    if (atMs >= END_MS) break;
    clock.now = Math.max(clock.now, atMs);
    for (const { hostname, certificateEndsAtMs } of domains.map(({ domain }) => domain)) {
      if (certificateEndsAtMs !== null && certificateEndsAtMs <= now()) {
        expired.push(`${new Date(now()).toISOString()} ${hostname}`);
      }
    }
    // The rest would say the same.
    if (expired.length > 0) break;
    if (atMs === changeAtMs) change();
    else await run(next);
  }

  expect(expired).toEqual([]);
  expect(ca.limitsMet).toEqual([]);
  for (const { domain } of domains) {
    const certificate = await certificates.findCertificate(domain.certificateId ?? 0n, domain.hostname);
    const { validFrom, validTo, subjectAltName } = new X509Certificate(certificate?.chainPem ?? '');
    expect(subjectAltName).toBe(`DNS:${domain.hostname}`);
    expect(Date.parse(validFrom)).toBeLessThan(END_MS);
    expect(Date.parse(validTo)).toBeGreaterThan(END_MS);
  }
  await db.close();
});
