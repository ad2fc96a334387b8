import type { Inspection } from '../diagnosis/diagnose.js';
import { type Diagnosis, isBlocking } from '../diagnosis/diagnosis.js';
import { fitForStorage } from '../diagnosis/finding.js';
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

export interface Check {
  /** The owner asked for the check, so the back-off of checks restarts. */
  isAsked: boolean;
  /** The owner asked for a new order, without the back-off of orders. */
  isOrdering?: boolean;
  atMs: number;
}

/** The change of a domain after an inspection. Pure. */
export function outcomeOf(domain: Domain, inspection: Inspection, check: Check): Revision {
  const { isOwnershipProved, isUnderWildcard, isApex, diagnoses } = inspection;
  const { isAsked, isOrdering = false, atMs } = check;
  const isUnseen = domain.ownership === 'ASSUMED' && domain.verifiedAtMs === null;
  // An assumed claim whose DNS never pointed here gives way to a proof of another project.
  const isContested = isUnseen && isOwnershipProved === false;
  // A wildcard record was made for its owner's names. It does not prove a name that a project claims below it.
  const isDoubtful = isContested || (isUnseen && isUnderWildcard);
  const ownership = isOwnershipProved ? 'PROVED' : isDoubtful ? 'REQUIRED' : domain.ownership;
  const waitingSinceMs = isAsked ? atMs : domain.waitingSinceMs;
  const { changes, ...outcome } = ofRecords({ ...domain, ownership, waitingSinceMs }, inspection, check);
  const order = isOrdering ? orderAnew({ ...domain, ...changes }, atMs) : {};
  const seen = { isApex, dnsDiagnoses: fitForStorage(diagnoses), checkedAtMs: atMs };
  const message = `Another project has proved ownership of ${domain.hostname} by TXT. Prove that the name is yours.`;
  const contest: Happening = { name: 'domain.ownership_contested', message, diagnoses };
  return {
    changes: { ownership, waitingSinceMs, ...seen, ...changes, ...order },
    ...outcome,
    ...(isContested ? { happenings: [contest] } : {}),
  };
}

function ofRecords(domain: Domain, inspection: Inspection, check: Check): Revision {
  const { leadsHere } = inspection;
  const { atMs } = check;
  if (domain.suspendedAtMs !== null) return { changes: { nextCheckAtMs: null } };
  if (leadsHere === null) {
    // DNS could not be asked. That says nothing about the records, so only the next check is planned.
    const nextMs = nextCheckAtMs(domain.waitingSinceMs, atMs) ?? atMs + HEALTH_CHECK_MS;
    return { changes: { nextCheckAtMs: nextMs } };
  }
  if (leadsHere && domain.ownership !== 'REQUIRED') return right(domain, inspection, atMs);
  const isLive = domain.certificateEndsAtMs !== null && domain.certificateEndsAtMs > atMs;
  if (isLive && domain.dns !== 'PENDING') return ledAway(domain, inspection, atMs);
  return notYet(domain, inspection, check);
}

function right(domain: Domain, { diagnoses }: Inspection, atMs: number): Revision {
  const changes: DomainChanges = {
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
function ledAway(domain: Domain, { diagnoses }: Inspection, atMs: number): Revision {
  const mismatchSinceMs = domain.mismatchSinceMs ?? atMs;
  const changes: DomainChanges = { mismatchSinceMs, nextCheckAtMs: atMs + DRIFT_MS };
  if (domain.dns === 'DRIFTED' || atMs - mismatchSinceMs < DRIFT_MS) return { changes };
  const message = `The DNS of ${domain.hostname} no longer points here. It is served until its certificate expires.`;
  return {
    changes: { ...changes, dns: 'DRIFTED', waitingSinceMs: atMs },
    happenings: [{ name: 'domain.drifted', message, diagnoses }],
  };
}

function notYet(domain: Domain, { diagnoses }: Inspection, { isAsked, atMs }: Check): Revision {
  const problems = diagnoses.filter(isBlocking);
  const isUntouched = problems.every(({ code }) => NOT_DONE_YET.has(code));
  const dns = domain.dns === 'PENDING' && isUntouched && !isAsked ? 'PENDING' : 'FAILED';
  const changes: DomainChanges = {
    dns,
    nextOrderAtMs: null,
    nextCheckAtMs: nextCheckAtMs(domain.waitingSinceMs, atMs),
  };
  if (domain.dns === dns && codesOf(domain.dnsDiagnoses) === codesOf(diagnoses)) return { changes };
  const message = problems[0]?.cause ?? `The DNS of ${domain.hostname} does not point here yet.`;
  return { changes, happenings: [{ name: 'domain.check_failed', message, diagnoses }] };
}

function codesOf(diagnoses: readonly Diagnosis[]): string {
  return diagnoses
    .map(({ code }) => code)
    .sort()
    .join();
}

/** Plans a new order, within the CA's rate limits. Empty = no order is possible or needed. */
function orderAnew(domain: Domain, atMs: number): DomainChanges {
  const isLive = domain.certificateEndsAtMs !== null && domain.certificateEndsAtMs > atMs;
  if (domain.dns !== 'MATCHES' || (isLive && domain.failedOrders === 0)) return {};
  return { failedOrders: 0, nextOrderAtMs: allowedAtMs(domain, atMs) };
}

/** The earliest time for an order: a rate limit of the CA outlasts a change of DNS. */
function allowedAtMs({ orderDiagnoses }: Domain, atMs: number): number {
  const limits = orderDiagnoses.filter(({ code }) => code === 'CA_RATE_LIMITED');
  return Math.max(atMs, ...limits.map(({ retryAtMs }) => retryAtMs ?? 0));
}
