import type { Inspection } from '../diagnosis/diagnose.js';
import { type Diagnosis, fitForStorage, isBlocking } from '../diagnosis/diagnosis.js';
import type { Domain } from '../store/domain.entity.js';
import type { DomainChanges, Revision } from '../store/domain.store.js';
import type { Happening } from '../store/timeline.js';
import { DRIFT_MS, HEALTH_CHECK_MS, nextCheckAtMs } from './back-off.js';

/** These findings mean that the owner has not created the records yet, which is no failure. */
const NOT_DONE_YET: ReadonlySet<string> = new Set([
  'DNS_NO_RECORD',
  'OWNERSHIP_TXT_MISSING',
  'APEX_NEEDS_ALIAS',
]);

/** The change of a domain after an inspection. The back-off of checks begins anew when the owner asked for it. Pure. */
export function outcomeOf(
  stored: Domain,
  inspection: Inspection,
  check: { isAsked: boolean; atMs: number },
): Revision {
  const domain = check.isAsked ? { ...stored, waitingSinceMs: check.atMs } : stored;
  const outcome = ofRecords(domain, inspection, check);
  if (!isContested(domain, inspection)) return outcome;
  const { diagnoses } = inspection;
  const message = `Another project has proved ownership of ${domain.hostname} by TXT. Prove that the name is yours.`;
  return { ...outcome, happenings: [{ name: 'domain.ownership_contested', message, diagnoses }] };
}

/** An assumed claim whose DNS never pointed here gives way to a proof of another project. */
function isContested({ ownership, verifiedAtMs }: Domain, { isOwnershipProved }: Inspection): boolean {
  return ownership === 'ASSUMED' && verifiedAtMs === null && isOwnershipProved === false;
}

function ofRecords(
  domain: Domain,
  inspection: Inspection,
  { isAsked, atMs }: { isAsked: boolean; atMs: number },
): Revision {
  const { leadsHere, isOwnershipProved, isUnderWildcard } = inspection;
  // A wildcard record was made for its owner's names. It does not prove a name that a project claims below it.
  const isBelow = isUnderWildcard && domain.ownership === 'ASSUMED' && domain.verifiedAtMs === null;
  const isDoubtful = isBelow || isContested(domain, inspection);
  const ownership = isOwnershipProved ? 'PROVED' : isDoubtful ? 'REQUIRED' : domain.ownership;
  const seen: DomainChanges = {
    ownership,
    isApex: inspection.isApex,
    dnsDiagnoses: fitForStorage(inspection.diagnoses),
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

/** DNS could not be asked. That says nothing about the records, so only the next check is planned. */
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
    // A domain that was suspended, or whose certificate expired, has no planned order.
    return { changes: { ...changes, nextOrderAtMs: domain.nextOrderAtMs ?? atMs } };
  }
  const isBack = domain.dns === 'DRIFTED';
  const happening: Happening = isBack
    ? { name: 'domain.recovered', message: `The DNS of ${domain.hostname} points here again.`, diagnoses }
    : { name: 'domain.verified', message: `The DNS of ${domain.hostname} points here.`, diagnoses };
  const nextOrderAtMs = isBack ? (domain.nextOrderAtMs ?? atMs) : allowedAtMs(domain, atMs);
  return {
    changes: { ...changes, verifiedAtMs: atMs, nextOrderAtMs },
    happenings: [happening],
  };
}

/** The domain is served, but DNS points elsewhere. It counts as moved only after two checks, minutes apart. */
function ledAway(domain: Domain, seen: DomainChanges, { diagnoses }: Inspection, atMs: number): Revision {
  const mismatchSinceMs = domain.mismatchSinceMs ?? atMs;
  const changes: DomainChanges = { ...seen, mismatchSinceMs };
  if (domain.dns === 'DRIFTED' || atMs - mismatchSinceMs < DRIFT_MS) {
    return { changes: { ...changes, nextCheckAtMs: atMs + DRIFT_MS } };
  }
  const message = `The DNS of ${domain.hostname} no longer points here. It is served until its certificate expires.`;
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
  const known = codesOf(domain.dnsDiagnoses);
  if (domain.dns === dns && known === codesOf(diagnoses)) return { changes };
  const [first] = diagnoses.filter(isBlocking);
  const message = first?.cause ?? `The DNS of ${domain.hostname} does not point here yet.`;
  return { changes, happenings: [{ name: 'domain.check_failed', message, diagnoses }] };
}

function codesOf(diagnoses: readonly Diagnosis[]): string {
  return diagnoses
    .map(({ code }) => code)
    .sort()
    .join();
}

/** The change that plans a new order, within the CA's rate limits; null = no order is possible or needed. Pure. */
export function orderAnew(domain: Domain, atMs: number): Revision | null {
  const isLive = domain.certificateEndsAtMs !== null && domain.certificateEndsAtMs > atMs;
  if (domain.dns !== 'MATCHES' || (isLive && domain.failedOrders === 0)) return null;
  return { changes: { failedOrders: 0, nextOrderAtMs: allowedAtMs(domain, atMs) } };
}

/** The earliest time for an order: a rate limit of the CA outlasts a change of DNS. */
function allowedAtMs({ orderDiagnoses }: Domain, atMs: number): number {
  const limits = orderDiagnoses.filter(({ code }) => code === 'CA_RATE_LIMITED');
  return Math.max(atMs, ...limits.map(({ retryAtMs }) => retryAtMs ?? 0));
}
