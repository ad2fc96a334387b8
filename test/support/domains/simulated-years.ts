import { X509Certificate } from 'node:crypto';
import { expect } from '@jest/globals';
import { CertificateOrderError } from '../../../src/domains/certificates/orders/order-failure.js';
import { HEALTH_CHECK_MS } from '../../../src/domains/lifecycle/back-off.js';
import type { Domain } from '../../../src/domains/store/domain.entity.js';
import { type Policy, usualWindow } from './simulated-authority.js';
import { startSimulatedIssuance } from './simulated-issuance.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NEVER = new AbortController().signal;
/** A week of six-day certificates of these has more renewals than the CA allows first certificates. */
const NAMES_OF_ZONE = 50;
const END_MS = Date.parse('2032-01-01');

const atOnce: Policy['window'] = ({ issuedAtMs }) => ({ startMs: issuedAtMs, endMs: issuedAtMs + HOUR_MS });
const late: Policy['window'] = ({ notAfterMs }) => ({
  startMs: notAfterMs - 3 * HOUR_MS,
  endMs: notAfterMs - HOUR_MS,
});

const SIX_DAYS = { lifetimeMs: 160 * HOUR_MS };
/** The changes at the CA. */
const CALENDAR: [at: string, change: Partial<Policy>][] = [
  ['2027-02-10', { lifetimeMs: 64 * DAY_MS, reuseMs: 10 * DAY_MS }],
  // Two days away, in which the first renewals are due. A part of the orders began before.
  ['2027-02-28', { reach: 'half' }],
  ['2027-03-01', { reach: 'away' }],
  ['2027-03-03', { reach: 'whole' }],
  // All certificates are to be replaced at once.
  ['2027-08-01', { window: atOnce, ...SIX_DAYS }],
  ['2027-08-02', { window: usualWindow }],
  ['2027-08-04', { reach: 'busy' }],
  ['2027-08-06', { reach: 'whole' }],
  ['2027-08-12', { lifetimeMs: 64 * DAY_MS }],
  ['2028-02-16', { lifetimeMs: 45 * DAY_MS, reuseMs: 7 * HOUR_MS }],
  ['2030-03-01', { window: null }],
  ['2030-05-01', { window: usualWindow }],
  ['2031-10-01', { window: atOnce, ...SIX_DAYS }],
  ['2031-10-02', { window: late }],
  ['2031-10-07', { reach: 'away' }],
  ['2031-10-09', { reach: 'whole', window: usualWindow }],
  ['2031-10-10', { knowsReplaced: false }],
  ['2031-10-17', { knowsReplaced: true, lifetimeMs: 45 * DAY_MS }],
];

/** A domain, with the time at which its next check asks the CA for renewal advice that it does not know yet. */
interface Simulated {
  domain: Domain;
  adviceAtMs: number;
  /** Its checks are at this time of each interval. */
  phaseMs: number;
}

/**
 * Runs so many domains from 2027 to 2031. Expects that each always has a valid certificate, of 64, 45 or 6 days, and that
 * no limit of the CA is met. Simulated at the methods of the ACME client: Pebble has no simulated clock.
 */
export async function expectYearsOfCertificates(domainCount: number): Promise<void> {
  const rig = await startSimulatedIssuance(Date.parse('2027-01-01'));
  const { clock, now, random, policy, ca, issuance, store } = rig;
  const domains: Simulated[] = [];
  for (let index = 0; index < domainCount; index += 1) {
    const hostname = `shop-${index}.customer-${Math.floor(index / NAMES_OF_ZONE)}.test`;
    const domain = await rig.attach(hostname);
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
    if (simulated.adviceAtMs > now()) await issuance.run(domain, NEVER);
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
    const certificate = await rig.certificates.findCertificate(domain.certificateId ?? 0n, domain.hostname);
    const { validFrom, validTo, subjectAltName } = new X509Certificate(certificate?.chainPem ?? '');
    expect(subjectAltName).toBe(`DNS:${domain.hostname}`);
    expect(Date.parse(validFrom)).toBeLessThan(END_MS);
    expect(Date.parse(validTo)).toBeGreaterThan(END_MS);
  }
  await rig.stop();
}
