import { DRIFT_MS, HEALTH_CHECK_MS, nextCheckAtMs } from './back-off.js';
import { type Diagnosis, isBlocking, toJson } from './diagnosis.js';
import type { Domain } from './domain.entity.js';
import type { DomainChanges, Revision } from './domain.store.js';
import type { Inspection } from './inspector.js';
import type { Happening } from './timeline.js';

/** What an owner has not done yet is no failure. */
const NOT_DONE_YET: ReadonlySet<string> = new Set([
  'DNS_NO_RECORD',
  'OWNERSHIP_TXT_MISSING',
  'APEX_NEEDS_ALIAS',
]);

/** What an inspection means for a domain. Pure. */
export function outcomeOf(
  domain: Domain,
  inspection: Inspection,
  look: { isAsked: boolean; atMs: number },
): Revision {
  const outcome = ofRecords(domain, inspection, look);
  if (!isContested(domain, inspection)) return outcome;
  const { diagnoses } = inspection;
  const message = `Another project proves by TXT that ${domain.hostname} is theirs: prove that it is yours.`;
  return { ...outcome, happenings: [{ name: 'domain.ownership_contested', message, diagnoses }] };
}

/** A claim that never led here proves nothing, and gives way to a proof. */
function isContested({ ownership, verifiedAtMs }: Domain, { isOwnershipProved }: Inspection): boolean {
  return ownership === 'ASSUMED' && verifiedAtMs === null && isOwnershipProved === false;
}

function ofRecords(
  domain: Domain,
  inspection: Inspection,
  { isAsked, atMs }: { isAsked: boolean; atMs: number },
): Revision {
  const { leadsHere, isOwnershipProved, isUnderWildcard } = inspection;
  // Whoever made the wildcard meant names of their own, and not the name that somebody claims below it.
  const isBelow = isUnderWildcard && domain.ownership === 'ASSUMED' && domain.verifiedAtMs === null;
  const isDoubtful = isBelow || isContested(domain, inspection);
  const ownership = isOwnershipProved ? 'PROVED' : isDoubtful ? 'REQUIRED' : domain.ownership;
  const seen: DomainChanges = {
    ownership,
    isApex: inspection.isApex ? 1 : 0,
    dnsDiagnoses: toJson(inspection.diagnoses),
    checkedAtMs: atMs,
    waitingSinceMs: domain.waitingSinceMs,
  };
  if (domain.suspendedAtMs !== null) return { changes: { ...seen, nextCheckAtMs: null } };
  if (leadsHere === null) return notAsked(domain, seen, atMs);
  if (leadsHere && ownership !== 'REQUIRED') return right(domain, seen, inspection, atMs);
  const isLive = domain.certificateEndsAtMs !== null && domain.certificateEndsAtMs > atMs;
  if (isLive && domain.dns !== 'PENDING') return ledAway(domain, seen, inspection, atMs);
  return notYet(domain, seen, inspection, { isAsked, atMs });
}

/** Says nothing about the records, so nothing changes. */
function notAsked(domain: Domain, seen: DomainChanges, atMs: number): Revision {
  const nextMs = nextCheckAtMs(domain.waitingSinceMs, atMs) ?? atMs + HEALTH_CHECK_MS;
  return { changes: { ...seen, nextCheckAtMs: nextMs } };
}

function right(domain: Domain, seen: DomainChanges, { diagnoses }: Inspection, atMs: number): Revision {
  const changes: DomainChanges = {
    ...seen,
    dns: 'MATCHES',
    mismatchSinceMs: null,
    nextCheckAtMs: atMs + HEALTH_CHECK_MS,
  };
  if (domain.dns === 'MATCHES') {
    // A domain that was suspended, or whose certificate ran out, has nothing planned.
    return { changes: { ...changes, nextOrderAtMs: domain.nextOrderAtMs ?? atMs } };
  }
  const isBack = domain.dns === 'DRIFTED';
  const happening: Happening = isBack
    ? { name: 'domain.recovered', message: `DNS leads ${domain.hostname} here again.`, diagnoses }
    : { name: 'domain.verified', message: `DNS leads ${domain.hostname} here.`, diagnoses };
  const nextOrderAtMs = isBack ? (domain.nextOrderAtMs ?? atMs) : allowedAtMs(domain, atMs);
  return {
    changes: { ...changes, verifiedAtMs: atMs, nextOrderAtMs },
    happenings: [happening],
    // Where TLS ends in front of the gateway it is served from now on.
    isServed: domain.verifiedAtMs === null,
  };
}

/** Served, and DNS does not lead here. One look may have met a fault of the moment; two, minutes apart, have not. */
function ledAway(domain: Domain, seen: DomainChanges, { diagnoses }: Inspection, atMs: number): Revision {
  const mismatchSinceMs = domain.mismatchSinceMs ?? atMs;
  const changes: DomainChanges = { ...seen, mismatchSinceMs };
  if (domain.dns === 'DRIFTED' || atMs - mismatchSinceMs < DRIFT_MS) {
    return { changes: { ...changes, nextCheckAtMs: atMs + DRIFT_MS } };
  }
  const message = `DNS no longer leads ${domain.hostname} here. It is served until its certificate ends.`;
  return {
    changes: { ...changes, dns: 'DRIFTED', waitingSinceMs: atMs, nextCheckAtMs: atMs + DRIFT_MS },
    happenings: [{ name: 'domain.drifted', message, diagnoses }],
  };
}

function notYet(
  domain: Domain,
  seen: DomainChanges,
  { diagnoses }: Inspection,
  { isAsked, atMs }: { isAsked: boolean; atMs: number },
): Revision {
  const isUntouched = diagnoses.filter(isBlocking).every(({ code }) => NOT_DONE_YET.has(code));
  const dns = domain.dns === 'PENDING' && isUntouched && !isAsked ? 'PENDING' : 'FAILED';
  const changes: DomainChanges = {
    ...seen,
    dns,
    nextOrderAtMs: null,
    nextCheckAtMs: nextCheckAtMs(domain.waitingSinceMs, atMs),
  };
  const known = codesOf(JSON.parse(domain.dnsDiagnoses));
  if (domain.dns === dns && known === codesOf(diagnoses)) return { changes };
  const [first] = diagnoses.filter(isBlocking);
  const message = first?.cause ?? `DNS does not lead ${domain.hostname} here yet.`;
  return { changes, happenings: [{ name: 'domain.check_failed', message, diagnoses }] };
}

function codesOf(diagnoses: readonly Diagnosis[]): string {
  return diagnoses
    .map(({ code }) => code)
    .sort()
    .join();
}

/** What starting anew changes: everything but the certificate in force and the limits of the CA. Pure. */
export function orderAnew(domain: Domain, atMs: number): Revision | null {
  const isLive = domain.certificateEndsAtMs !== null && domain.certificateEndsAtMs > atMs;
  if (domain.dns !== 'MATCHES' || (isLive && domain.failedOrders === 0)) return null;
  return { changes: { failedOrders: 0, nextOrderAtMs: allowedAtMs(domain, atMs) } };
}

/** From when an order makes sense: a limit of the CA outlives a change of DNS. */
function allowedAtMs({ orderDiagnoses }: Domain, atMs: number): number {
  const limits = (JSON.parse(orderDiagnoses) as Diagnosis[]).filter(({ code }) => code === 'CA_RATE_LIMITED');
  return Math.max(atMs, ...limits.map(({ retryAtMs }) => retryAtMs ?? 0));
}
