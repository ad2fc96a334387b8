import { describe, expect, jest, test } from '@jest/globals';
import type { Inspection } from '../../src/domains/diagnosis/diagnose.js';
import type { Diagnosis, DiagnosisCode } from '../../src/domains/diagnosis/diagnosis.js';
import { fitForStorage } from '../../src/domains/diagnosis/finding.js';
import { HEALTH_CHECK_MS, nextCheckAtMs, nextOrderAtMs } from '../../src/domains/lifecycle/back-off.js';
import { outcomeOf } from '../../src/domains/lifecycle/check-outcome.js';
import { DomainCheck } from '../../src/domains/lifecycle/domain-check.js';
import { failedOrder, issuedOrder } from '../../src/domains/lifecycle/order-outcome.js';
import { Domain, SERVED_COLUMNS } from '../../src/domains/store/domain.entity.js';
import type { Revision } from '../../src/domains/store/domain.store.js';
import { isServing, statusOf } from '../../src/domains/store/domain-status.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const T0 = Date.UTC(2026, 10, 21);

function domain(changes: Partial<Domain> = {}): Domain {
  const fresh: Partial<Domain> = {
    id: 1n,
    projectId: 7n,
    hostname: 'shop.customer.test',
    attachedHostname: 'shop.customer.test',
    isApex: false,
    ownership: 'ASSUMED',
    dns: 'PENDING',
    orderState: 'NONE',
    dnsDiagnoses: [],
    orderDiagnoses: [],
    waitingSinceMs: T0,
    mismatchSinceMs: null,
    verifiedAtMs: null,
    certificateId: null,
    certificateEndsAtMs: null,
    nextOrderAtMs: null,
    failedOrders: 0,
    suspendedAtMs: null,
    removedAtMs: null,
  };
  return Object.assign(new Domain(), fresh, changes);
}

function diagnosis(code: DiagnosisCode, changes: Partial<Diagnosis> = {}): Diagnosis {
  return {
    severity: 'ERROR',
    actor: 'OWNER',
    retryAtMs: null,
    evidence: [],
    code,
    cause: `${code} is the case.`,
    remedy: 'Correct it.',
    ...changes,
  };
}

function inspection(leadsHere: boolean | null, diagnoses: Diagnosis[] = []): Inspection {
  return {
    leadsHere,
    isReachingUs: leadsHere,
    isOwnershipProved: null,
    proofs: [],
    isApex: false,
    isUnderWildcard: false,
    diagnoses,
  };
}

/** The changes that every process must read. */
function servedChanges({ changes }: Revision): string[] {
  return Object.keys(changes).filter((column) => column in SERVED_COLUMNS);
}

const LIVE = { dns: 'MATCHES', orderState: 'ISSUED', certificateId: 5n, verifiedAtMs: T0 } as const;

describe('the status of a domain', () => {
  const at = T0 + HOUR_MS;
  test.each([
    ['PENDING_DNS', {}],
    ['OWNERSHIP_REQUIRED', { ownership: 'REQUIRED' }],
    ['DNS_FAILED', { dns: 'FAILED' }],
    ['VERIFIED', { dns: 'MATCHES' }],
    ['ISSUING', { dns: 'MATCHES', orderState: 'ORDERING' }],
    ['ISSUE_FAILED', { dns: 'MATCHES', orderState: 'FAILED' }],
    ['ACTIVE', { ...LIVE, certificateEndsAtMs: at + 1 }],
    ['ACTIVE', { ...LIVE, orderState: 'FAILED', certificateEndsAtMs: at + 1 }],
    ['DRIFTED', { ...LIVE, dns: 'DRIFTED', certificateEndsAtMs: at + 1 }],
    ['EXPIRED', { ...LIVE, certificateEndsAtMs: at }],
    ['SUSPENDED', { ...LIVE, certificateEndsAtMs: at + 1, suspendedAtMs: T0 }],
    ['REMOVED', { ...LIVE, certificateEndsAtMs: at + 1, removedAtMs: T0 }],
  ] as const)('is %s', (status, changes) => {
    expect(statusOf(domain(changes), at)).toBe(status);
  });

  test('Domains-Rules-1: a domain is served only while active or drifted', () => {
    expect(isServing(domain({ ...LIVE, certificateEndsAtMs: at + 1 }), { atMs: at, endsTls: true })).toBe(
      true,
    );
    expect(
      isServing(domain({ ...LIVE, dns: 'DRIFTED', certificateEndsAtMs: at + 1 }), {
        atMs: at,
        endsTls: true,
      }),
    ).toBe(true);
    expect(
      isServing(domain({ ...LIVE, certificateEndsAtMs: at + 1, suspendedAtMs: T0 }), {
        atMs: at,
        endsTls: true,
      }),
    ).toBe(false);
    expect(isServing(domain({ ...LIVE, certificateEndsAtMs: at }), { atMs: at, endsTls: true })).toBe(false);
    // If TLS ends in front of the gateway, DNS alone decides.
    expect(isServing(domain({ dns: 'MATCHES', verifiedAtMs: T0 }), { atMs: at, endsTls: false })).toBe(true);
    expect(isServing(domain(), { atMs: at, endsTls: false })).toBe(false);
  });
});

describe('back-off', () => {
  test('DNS is checked every 30 s, 2 min, 10 min, then hourly, and not after a week', () => {
    const delayAfter = (ms: number) => (nextCheckAtMs(T0, T0 + ms) ?? Number.NaN) - T0 - ms;
    expect(delayAfter(0)).toBe(30_000);
    expect(delayAfter(5 * MINUTE_MS - 1)).toBe(30_000);
    expect(delayAfter(5 * MINUTE_MS)).toBe(2 * MINUTE_MS);
    expect(delayAfter(30 * MINUTE_MS)).toBe(10 * MINUTE_MS);
    expect(delayAfter(6 * HOUR_MS)).toBe(HOUR_MS);
    expect(delayAfter(48 * HOUR_MS)).toBe(HOUR_MS);
    expect(nextCheckAtMs(T0, T0 + 7 * DAY_MS)).toBeNull();
  });

  const first = { retryAtMs: null, verifiedAtMs: T0, certificateEndsAtMs: null };

  test('orders are retried after 1, 10 and 100 minutes, then daily', () => {
    const late = { ...first, verifiedAtMs: T0 - DAY_MS };
    const delays = [1, 2, 3, 4, 9].map((failures) => nextOrderAtMs({ ...late, failures }, T0) - T0);
    expect(delays).toEqual([MINUTE_MS, 10 * MINUTE_MS, 100 * MINUTE_MS, DAY_MS, DAY_MS]);
  });

  test('Domains-Rules-2: everything is retried 30 minutes after DNS was right, whatever the back-off', () => {
    const at = T0 + 11 * MINUTE_MS;
    expect(nextOrderAtMs({ ...first, failures: 3 }, at)).toBe(T0 + 30 * MINUTE_MS);
  });

  test('a retry time of the authority overrides both', () => {
    const retryAtMs = T0 + 2 * HOUR_MS;
    expect(nextOrderAtMs({ ...first, failures: 1, retryAtMs }, T0)).toBe(retryAtMs);
  });

  test('Renewal-5: a retry time of the authority takes at most half of what is left of a certificate', () => {
    const failed = { ...first, failures: 1, retryAtMs: T0 + 2 * DAY_MS };
    expect(nextOrderAtMs({ ...failed, certificateEndsAtMs: T0 + DAY_MS }, T0)).toBe(T0 + DAY_MS / 2);
    expect(nextOrderAtMs({ ...failed, certificateEndsAtMs: T0 + 5 * DAY_MS }, T0)).toBe(failed.retryAtMs);
  });

  test('a certificate of any lifetime gets several renewal attempts before its end', () => {
    for (const leftMs of [8_000, HOUR_MS, 2 * DAY_MS]) {
      let at = T0;
      let attempts = 0;
      while (at < T0 + leftMs && attempts < 100) {
        attempts += 1;
        at = nextOrderAtMs({ ...first, failures: attempts, certificateEndsAtMs: T0 + leftMs }, at);
      }
      expect(attempts).toBeGreaterThanOrEqual(4);
    }
  });
});

describe('the outcome of a DNS check', () => {
  const asked = { isAsked: true, atMs: T0 + HOUR_MS };
  const byItself = { isAsked: false, atMs: T0 + HOUR_MS };

  test('a match verifies the domain and orders at once', () => {
    const { changes, happenings } = outcomeOf(domain(), inspection(true), byItself);
    expect(changes).toMatchObject({
      dns: 'MATCHES',
      verifiedAtMs: byItself.atMs,
      nextOrderAtMs: byItself.atMs,
      nextCheckAtMs: byItself.atMs + HEALTH_CHECK_MS,
    });
    expect(happenings?.map(({ name }) => name)).toEqual(['domain.verified']);
  });

  test('a further match changes no schedule: the renewal keeps its time', () => {
    const live = domain({ ...LIVE, certificateEndsAtMs: T0 + DAY_MS, nextOrderAtMs: T0 + 16 * HOUR_MS });
    const { changes, happenings } = outcomeOf(live, inspection(true), asked);
    expect(changes.nextOrderAtMs).toBe(T0 + 16 * HOUR_MS);
    expect(happenings ?? []).toEqual([]);
  });

  test('"could not ask" changes nothing but the time of the next check', () => {
    const unreachable = inspection(null, [diagnosis('DNS_UNREACHABLE')]);
    for (const state of ['PENDING', 'FAILED', 'MATCHES', 'DRIFTED'] as const) {
      const { changes } = outcomeOf(domain({ dns: state }), unreachable, asked);
      expect(changes).not.toHaveProperty('dns');
      expect(changes).not.toHaveProperty('mismatchSinceMs');
      expect(changes.nextCheckAtMs).toBeGreaterThan(asked.atMs);
    }
  });

  test('a missing record is a failure only when the owner asks', () => {
    const nothing = inspection(false, [diagnosis('DNS_NO_RECORD')]);
    expect(outcomeOf(domain(), nothing, byItself).changes.dns).toBe('PENDING');
    expect(outcomeOf(domain(), nothing, asked).changes.dns).toBe('FAILED');
    const wrong = inspection(false, [diagnosis('CNAME_WRONG_VALUE')]);
    expect(outcomeOf(domain(), wrong, byItself).changes.dns).toBe('FAILED');
  });

  test('the same finding is recorded once', () => {
    const wrong = inspection(false, [diagnosis('CNAME_WRONG_VALUE')]);
    const { changes, happenings } = outcomeOf(domain(), wrong, byItself);
    expect(happenings).toHaveLength(1);
    const again = outcomeOf(domain(changes as Partial<Domain>), wrong, byItself);
    expect(again.happenings ?? []).toEqual([]);
  });

  test('a match without a required proof of ownership does not verify', () => {
    const required = domain({ ownership: 'REQUIRED' });
    const unproved = { ...inspection(true, [diagnosis('OWNERSHIP_TXT_MISSING')]), isOwnershipProved: false };
    expect(outcomeOf(required, unproved, asked).changes).toMatchObject({
      dns: 'FAILED',
      nextOrderAtMs: null,
    });
    const proved = { ...inspection(true), isOwnershipProved: true };
    expect(outcomeOf(required, proved, asked).changes).toMatchObject({ dns: 'MATCHES', ownership: 'PROVED' });
  });

  test('below a wildcard that points here a name must be proved, unless it was verified before the wildcard', () => {
    const wild = { ...inspection(true), isUnderWildcard: true };
    expect(outcomeOf(domain(), wild, asked).changes).toMatchObject({ ownership: 'REQUIRED', dns: 'FAILED' });
    const older = domain({ dns: 'MATCHES', verifiedAtMs: T0 });
    expect(outcomeOf(older, wild, asked).changes).toMatchObject({ ownership: 'ASSUMED', dns: 'MATCHES' });
  });

  test('a rate limit of the authority outlives a change of DNS', () => {
    const retryAtMs = byItself.atMs + HOUR_MS;
    const limited = domain({
      dns: 'FAILED',
      orderDiagnoses: [diagnosis('CA_RATE_LIMITED', { retryAtMs })],
    });
    expect(outcomeOf(limited, inspection(true), byItself).changes.nextOrderAtMs).toBe(retryAtMs);
  });

  test('a suspended domain is checked at most once more: nothing is scheduled for it', () => {
    const suspended = domain({ dns: 'MATCHES', suspendedAtMs: T0, nextOrderAtMs: null });
    const { changes } = outcomeOf(suspended, inspection(true), byItself);
    expect(changes.nextCheckAtMs).toBeNull();
    expect(changes).not.toHaveProperty('nextOrderAtMs');
  });

  test('every process reads a verification: behind a proxy that ends TLS the domain is served from now on', () => {
    expect(servedChanges(outcomeOf(domain(), inspection(true), byItself))).toEqual(['verifiedAtMs']);
    const verified = domain({ dns: 'MATCHES', verifiedAtMs: T0 });
    expect(servedChanges(outcomeOf(verified, inspection(true), byItself))).toEqual([]);
    expect(servedChanges(outcomeOf(domain(), inspection(false), byItself))).toEqual([]);
  });

  test('a served domain has drifted only after two checks ten minutes apart', () => {
    const live = domain({ ...LIVE, certificateEndsAtMs: T0 + DAY_MS });
    const away = inspection(false, [diagnosis('CNAME_WRONG_VALUE')]);
    const first = outcomeOf(live, away, byItself);
    expect(first.changes).toMatchObject({ mismatchSinceMs: byItself.atMs });
    expect(first.changes).not.toHaveProperty('dns');
    const since = Object.assign(live, first.changes);
    const soon = outcomeOf(since, away, { isAsked: true, atMs: byItself.atMs + 10 * MINUTE_MS - 1 });
    expect(soon.changes).not.toHaveProperty('dns');
    const later = outcomeOf(since, away, { isAsked: false, atMs: byItself.atMs + 10 * MINUTE_MS });
    expect(later.changes.dns).toBe('DRIFTED');
    expect(later.happenings?.map(({ name }) => name)).toEqual(['domain.drifted']);
    const back = outcomeOf(Object.assign(since, later.changes), inspection(true), byItself);
    expect(back.changes).toMatchObject({ dns: 'MATCHES', mismatchSinceMs: null });
    expect(back.happenings?.map(({ name }) => name)).toEqual(['domain.recovered']);
  });
});

test('Domains-Rules-4: an owner’s check that waits for its turn ends while the request may still write', async () => {
  jest.useFakeTimers();
  const inspect = () => new Promise<Inspection>(() => {});
  const check = new DomainCheck({ store: {} as never, inspect, onDue() {} }, () => T0);
  const subject = { projectId: 7n, hostname: 'shop.customer.test', isApex: false, ownership: null };
  const refused: string[] = [];
  for (let turns = 0; turns < 9; turns += 1) {
    check.inspectForOwner(subject).catch(({ code }) => refused.push(code));
  }
  // A write begins before 3.5 s, and a check takes up to 1.3 s.
  await jest.advanceTimersByTimeAsync(3_500 - 1_300 - 100);
  expect(refused).toEqual(['unavailable']);
  jest.useRealTimers();
});

describe('stored findings', () => {
  test('findings fit into 64 KB whatever foreign DNS answers: evidence is dropped first, then findings', () => {
    const evidence = Array.from({ length: 12 }, () => ({
      server: '192.0.2.1:53',
      question: 'shop.customer.test TXT',
      answer: '\u0001"'.repeat(1_000),
      ttlSeconds: null,
      atMs: T0,
    }));
    const many = Array.from({ length: 10 }, () => diagnosis('DNS_NO_RECORD', { evidence }));
    const stored = fitForStorage(many);
    expect(Buffer.byteLength(JSON.stringify(stored))).toBeLessThan(65_535);
    expect(stored).toHaveLength(10);
    const [small] = fitForStorage([diagnosis('DNS_NO_RECORD', { evidence: evidence.slice(0, 2) })]);
    expect(small?.evidence).toHaveLength(2);
  });
});

describe('the outcome of an order', () => {
  const certificate = {
    id: 9n,
    domainId: 1n,
    hostname: 'shop.customer.test',
    chainPem: '',
    sealedKey: '',
    issuer: 'Test CA',
    serialNumber: '01',
    notBeforeMs: T0,
    notAfterMs: T0 + 90 * DAY_MS,
    renewAtMs: T0 + 60 * DAY_MS,
    renewalId: null,
    createdAtMs: T0,
  };

  test('a certificate is installed, and its renewal scheduled', () => {
    const issued = issuedOrder(domain({ dns: 'MATCHES', failedOrders: 3 }), certificate);
    expect(servedChanges(issued)).toEqual(['certificateId', 'certificateEndsAtMs']);
    expect(issued.changes).toMatchObject({
      certificateId: 9n,
      certificateEndsAtMs: certificate.notAfterMs,
      nextOrderAtMs: certificate.renewAtMs,
      orderState: 'ISSUED',
      failedOrders: 0,
      orderDiagnoses: [],
    });
  });

  test('a failed renewal keeps the valid certificate and warns', () => {
    const live = domain({ ...LIVE, certificateEndsAtMs: T0 + 30 * DAY_MS });
    const failed = failedOrder(live, [diagnosis('CA_DOWN')], T0);
    const { changes, happenings } = failed;
    expect(servedChanges(failed)).toEqual([]);
    expect(changes.orderDiagnoses?.map(({ code, severity }) => [code, severity])).toEqual([
      ['CA_DOWN', 'WARNING'],
      ['RENEWAL_AT_RISK', 'WARNING'],
    ]);
    expect(happenings?.map(({ name }) => name)).toEqual(['certificate.renewal_failed']);
  });

  test('Domains-Rules-3: 30 minutes after DNS was right without a certificate, the result of the new attempt is recorded once', () => {
    const waiting = domain({ dns: 'MATCHES', verifiedAtMs: T0, failedOrders: 2 });
    const early = failedOrder(waiting, [diagnosis('CA_DOWN')], T0 + 29 * MINUTE_MS);
    expect(early.happenings?.map(({ name }) => name)).toEqual(['certificate.order_failed']);
    const late = failedOrder(waiting, [diagnosis('CAA_BLOCKS_CA')], T0 + 30 * MINUTE_MS);
    expect(late.happenings?.map(({ name }) => name)).toEqual([
      'certificate.order_failed',
      'certificate.overdue',
    ]);
    const again = failedOrder(Object.assign(waiting, late.changes), [diagnosis('CA_DOWN')], T0 + HOUR_MS);
    expect(again.happenings?.map(({ name }) => name)).toEqual(['certificate.order_failed']);
  });
});
