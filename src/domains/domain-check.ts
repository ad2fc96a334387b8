import type { ProjectService } from '../projects/project.service.js';
import { DRIFT_MS, HEALTH_CHECK_MS, nextCheckAtMs } from './back-off.js';
import { type Diagnosis, isBlocking } from './diagnosis.js';
import { ownershipRecord } from './dns-records.js';
import type { Domain } from './domain.entity.js';
import type { DomainChanges, DomainStore, Revision } from './domain.store.js';
import { requireCustomDomains } from './domain-plan.js';
import type { Inspection, Inspector } from './inspector.js';
import type { Happening } from './timeline.js';

/** What an owner has not done yet is no failure. */
const NOT_DONE_YET: ReadonlySet<string> = new Set([
  'DNS_NO_RECORD',
  'OWNERSHIP_TXT_MISSING',
  'APEX_NEEDS_ALIAS',
]);

interface CheckParts {
  store: DomainStore;
  projects: ProjectService;
  inspector: Inspector;
  /** Told when an order may be due. */
  onDue(): void;
}

/** Looks at the DNS of domains and keeps what it found. */
export class DomainCheck {
  constructor(
    private readonly parts: CheckParts,
    private readonly now: () => number,
  ) {}

  /** Because the owner asks: within 2 s. Throws `AppError not_found`, `plan_required`. Spec: Custom domains 7, 8. */
  async verify(projectId: bigint, id: bigint): Promise<Domain> {
    const { store, projects } = this.parts;
    const domain = await store.get(projectId, id);
    requireCustomDomains(await projects.get(projectId));
    return this.run(domain, { isAsked: true });
  }

  /**
   * As `verify`, and orders anew without waiting for the back-off; only a limit of the CA is waited for.
   * Spec: Custom domains 9.
   */
  async reverify(projectId: bigint, id: bigint): Promise<Domain> {
    const checked = await this.verify(projectId, id);
    const anew = await this.parts.store.revise(id, (newest) => orderAnew(newest, this.now()));
    this.parts.onDue();
    return anew ?? checked;
  }

  /** Returns the domain as it is afterwards; unchanged when it was removed meanwhile. */
  async run(
    domain: Domain,
    { isAsked, signal }: { isAsked: boolean; signal?: AbortSignal },
  ): Promise<Domain> {
    const { hostname, projectId, isApex, ownership } = domain;
    const inspection = await this.parts.inspector.inspect(
      {
        hostname,
        isApex: isApex === 1,
        ownership: ownership === 'REQUIRED' ? ownershipRecord(projectId, hostname) : null,
      },
      signal,
    );
    const revised = await this.parts.store.revise(domain.id, (newest) =>
      outcomeOf(isAsked ? { ...newest, waitingSinceMs: this.now() } : newest, inspection, {
        isAsked,
        atMs: this.now(),
      }),
    );
    this.parts.onDue();
    return revised ?? domain;
  }
}

function orderAnew(domain: Domain, atMs: number): Revision | null {
  const isLive = domain.certificateEndsAtMs !== null && domain.certificateEndsAtMs > atMs;
  if (domain.dns !== 'MATCHES' || (isLive && domain.failedOrders === 0)) return null;
  const limits = (JSON.parse(domain.orderDiagnoses) as Diagnosis[]).filter(
    ({ code }) => code === 'CA_RATE_LIMITED',
  );
  const allowedAtMs = Math.max(atMs, ...limits.map(({ retryAtMs }) => retryAtMs ?? 0));
  return { changes: { failedOrders: 0, nextOrderAtMs: allowedAtMs } };
}

/** What an inspection means for a domain. Pure. */
export function outcomeOf(
  domain: Domain,
  inspection: Inspection,
  { isAsked, atMs }: { isAsked: boolean; atMs: number },
): Revision {
  const ownership = inspection.isOwnershipProved ? 'PROVED' : domain.ownership;
  const seen: DomainChanges = {
    ownership,
    isApex: inspection.isApex ? 1 : 0,
    dnsDiagnoses: JSON.stringify(inspection.diagnoses),
    checkedAtMs: atMs,
    waitingSinceMs: domain.waitingSinceMs,
  };
  if (inspection.leadsHere === null) return notAsked(domain, seen, atMs);
  if (inspection.leadsHere && ownership !== 'REQUIRED') return right(domain, seen, inspection, atMs);
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
  const nextOrderAtMs = isBack ? (domain.nextOrderAtMs ?? atMs) : atMs;
  return { changes: { ...changes, verifiedAtMs: atMs, nextOrderAtMs }, happenings: [happening] };
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
