import { isDeepStrictEqual } from 'node:util';
import { requireScope, type ServiceCall } from '../ground/kernel/caller.js';
import { AppError } from '../ground/kernel/errors.js';
import type { AuditLog } from '../tenants/audit/audit-log.js';
import {
  type Complete,
  ID_CODEC,
  type IdempotencyService,
  objectCodec,
} from '../tenants/idempotency/idempotency.service.js';
import type { CertificateFacts, CertificateStore } from './certificates/store/certificate.store.js';
import { type Diagnosis, isBlocking } from './diagnosis/diagnosis.js';
import { type OwnershipRecord, ownershipRecord, TTL_SECONDS } from './diagnosis/dns-records.js';
import { checkConfig, type DomainConfig, type DomainEffect, effectOf, exampleOf } from './domain-config.js';
import type { DomainCheck } from './lifecycle/domain-check.js';
import type { DomainClaims, StoppedDomain } from './lifecycle/domain-claims.js';
import { diagnosesOf } from './lifecycle/order-outcome.js';
import { labelOf, normalizeHostname } from './names/hostname.js';
import type { Domain } from './store/domain.entity.js';
import type { DomainStore, Revision } from './store/domain.store.js';
import type { DomainEvent } from './store/timeline.js';

interface ProjectDomainParts {
  store: DomainStore;
  claims: DomainClaims;
  check: DomainCheck;
  certificates: CertificateStore;
  audit: AuditLog;
  idempotency: IdempotencyService;
}

/** The owner's configuration and its effect on each attached host. */
export interface ConfiguredDomains {
  config: DomainConfig;
  effects: DomainEffect[];
  isApplied: boolean;
}

/** A record that the owner creates at their DNS provider. */
export interface RecordToCreate extends OwnershipRecord {
  /** `ALIAS` is also called ANAME. */
  type: 'CNAME' | 'ALIAS' | 'TXT';
  /** The name as most DNS providers want it: without the registrable domain, `@` for that domain itself. */
  label: string;
  ttlSeconds: number;
}

/**
 * Reads and changes the domains of the caller's project. For the caller, domains of other projects do not exist.
 * Every method with a call throws `AppError forbidden` without the scope `domains`.
 */
export class ProjectDomains {
  constructor(
    private readonly parts: ProjectDomainParts,
    private readonly platformHost: string,
  ) {}

  /** Oldest first. */
  async list({ caller }: ServiceCall): Promise<Domain[]> {
    requireScope(caller, 'domains');
    return this.parts.store.list(caller.projectId);
  }

  /** The domains by id; unknown ids are left out. One statement. */
  async getAll({ caller }: ServiceCall, ids: readonly bigint[]): Promise<Map<bigint, Domain>> {
    requireScope(caller, 'domains');
    const found = await this.parts.store.findAll(caller.projectId, ids);
    return new Map(found.map((domain) => [domain.id, domain]));
  }

  /** Throws `AppError not_found`. */
  async getByHostname({ caller }: ServiceCall, hostname: string): Promise<Domain> {
    requireScope(caller, 'domains');
    const domain = await this.parts.store.findAttached(normalizeHostname(hostname) ?? hostname);
    if (domain?.projectId === caller.projectId) return domain;
    throw new AppError('not_found', `${hostname} is not attached to this project.`);
  }

  /** The newest events of each domain; `counts` gives the number for each. One statement. */
  async timelines(
    { caller }: ServiceCall,
    counts: ReadonlyMap<bigint, number>,
  ): Promise<Map<bigint, DomainEvent[]>> {
    requireScope(caller, 'domains');
    return this.parts.store.events(caller.projectId, counts);
  }

  /** The valid certificate of each domain, by the domain's id. One statement. */
  async certificates(
    { caller }: ServiceCall,
    domains: readonly Domain[],
  ): Promise<Map<bigint, CertificateFacts>> {
    requireScope(caller, 'domains');
    return this.parts.certificates.factsOf(domains.flatMap(({ certificateId }) => certificateId ?? []));
  }

  /** The findings of the last check and the last order, DNS first; at most `MAX_DIAGNOSES`. */
  diagnoses(domain: Domain, atMs: number): Diagnosis[] {
    return diagnosesOf(domain, atMs);
  }

  /** The records that the owner must still create; the check verifies exactly these values. Spec: Custom domains 4, 5. */
  instructions({ hostname, isApex, projectId, ownership, dns, dnsDiagnoses }: Domain): RecordToCreate[] {
    const problems = dnsDiagnoses.filter(isBlocking);
    const lacksOnlyProof = problems.length > 0 && problems.every(({ code }) => code.startsWith('OWNERSHIP_'));
    // Also a warning: the TXT record would end a name that only a wildcard leads here. D-249.
    const lacksRecord = dnsDiagnoses.some(({ code }) => code === 'DNS_NO_RECORD');
    const leadsHere = dns === 'MATCHES' || (lacksOnlyProof && !lacksRecord);
    const target = { type: isApex ? 'ALIAS' : 'CNAME', name: hostname, value: this.platformHost } as const;
    const proof = { type: 'TXT', ...ownershipRecord(projectId, hostname) } as const;
    const missing = [...(leadsHere ? [] : [target]), ...(ownership === 'REQUIRED' ? [proof] : [])];
    return missing.map((record) => ({ ...record, ttlSeconds: TTL_SECONDS, label: labelOf(record.name) }));
  }

  /** Adds a domain; a repeated Idempotency-Key returns its current state. Throws what `DomainClaims.add` throws. */
  async add(call: ServiceCall, hostname: string): Promise<Domain> {
    const { actor, caller } = call;
    return this.once(call, 'addDomain', hostname, (complete) =>
      this.parts.claims.add(actor, caller.projectId, hostname, complete),
    );
  }

  /**
   * Checks DNS now. With `isOrdering` it also orders without the back-off. Throws what `DomainCheck.verify` throws. Spec:
   * Custom domains 7, 8, 9.
   */
  async verify(call: ServiceCall, id: bigint, { isOrdering = false } = {}): Promise<Domain> {
    const work = () => this.parts.check.verify(call.caller.projectId, id, { isOrdering });
    return this.once(call, isOrdering ? 'reverifyDomain' : 'verifyDomain', String(id), work);
  }

  /**
   * Sets the primary domain and the redirects, all or nothing. A repeated call changes nothing, so it needs no
   * Idempotency-Key. Throws `AppError invalid_request`. Spec: Custom domains 10.
   */
  async configure(
    { caller, actor }: ServiceCall,
    { wanted, isDryRun }: { wanted: DomainConfig; isDryRun: boolean },
  ): Promise<ConfiguredDomains> {
    requireScope(caller, 'domains');
    const { projectId } = caller;
    const { store, audit } = this.parts;
    const attached = await store.list(projectId);
    const config = checkConfig(wanted, attached);
    const effects = attached.map(({ hostname }) => effectOf(config, hostname));
    if (isDryRun) return { config, effects, isApplied: false };
    await store.transaction(async (manager) => {
      const revised = await store.reviseIn(manager, { projectId }, (newest) =>
        configured(newest, effectOf(config, newest.hostname)),
      );
      const left = new Set(revised.map(({ id }) => id));
      const removed = attached.find(({ id }) => !left.has(id));
      if (removed)
        throw new AppError('conflict', `${removed.hostname} was removed during this change. Try again.`);
      const subject = config.primary ?? '';
      const detail = { redirects: config.redirects.length };
      await audit.record(manager, actor, { action: 'domain.configure', projectId, subject, detail });
    });
    return { config, effects, isApplied: true };
  }

  /** An example request and its result, for people. */
  example(effect: DomainEffect): string {
    return exampleOf(effect);
  }

  /** Removes the domain; resolves when no process serves it any more. Throws `AppError not_found`. Spec: Custom domains 11. */
  async remove({ caller, actor, idempotencyKey: key }: ServiceCall, id: bigint): Promise<StoppedDomain> {
    requireScope(caller, 'domains');
    const { claims, idempotency } = this.parts;
    return idempotency.once(
      { caller, key, operation: 'removeDomain', input: [String(id)] },
      () => claims.remove(actor, caller.projectId, id),
      STOPPED_CODEC,
    );
  }

  /** Stores only the id, so a repeated request gets the current state of the domain. */
  private async once(
    { caller, idempotencyKey: key }: ServiceCall,
    operation: string,
    input: string,
    work: (complete: Complete<bigint> | null) => Promise<Domain>,
  ): Promise<Domain> {
    requireScope(caller, 'domains');
    const { idempotency, store } = this.parts;
    let domain: Domain | null = null;
    const id = await idempotency.once(
      { caller, key, operation, input: [input] },
      async (complete) => {
        domain = await work(complete);
        return domain.id;
      },
      ID_CODEC,
    );
    return domain ?? store.get(caller.projectId, id);
  }
}

const STOPPED_CODEC = objectCodec<StoppedDomain>('id');

function configured(domain: Domain, { hostname, to, status, isPrimary }: DomainEffect): Revision {
  const changes = { isPrimary, redirectTo: to, redirectStatus: status };
  const { isPrimary: wasPrimary, redirectTo, redirectStatus } = domain;
  if (isDeepStrictEqual(changes, { isPrimary: wasPrimary, redirectTo, redirectStatus }))
    return { changes: {} };
  const message =
    to === null
      ? `${hostname} serves the project${isPrimary ? ' as its primary domain' : ''}.`
      : `${hostname} redirects to ${to} with ${status}.`;
  return { changes, happenings: [{ name: 'domain.configured', message }] };
}
