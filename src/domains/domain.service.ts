import type { Actor, AuditLog } from '../audit/audit-log.js';
import { AppError, invalidRequest } from '../errors.js';
import { type Diagnosis, isBlocking } from './diagnosis.js';
import { type DnsRecord, ownershipRecord, recordsFor } from './dns-records.js';
import type { Domain } from './domain.entity.js';
import type { DomainStore, Revision } from './domain.store.js';
import { checkConfig, type DomainConfig, type DomainEffect, effectOf } from './domain-config.js';
import type { DomainEvent } from './domain-event.entity.js';
import { normalizeHostname } from './hostname.js';
import { delayedCertificate } from './order-outcome.js';

/** What the owner has configured, and what it does to each attached host. */
export interface ConfiguredDomains {
  config: DomainConfig;
  effects: DomainEffect[];
  isApplied: boolean;
}

interface DomainParts {
  store: DomainStore;
  audit: AuditLog;
  /** Tells the other processes at once, where there is a way to. */
  announce(): Promise<void>;
}

/** The domains of a project: what they are, and what they do. */
export class DomainService {
  constructor(
    private readonly parts: DomainParts,
    private readonly platformHost: string,
  ) {}

  list(projectId: bigint): Promise<Domain[]> {
    return this.parts.store.list(projectId);
  }

  /** Throws `AppError not_found`. */
  get(projectId: bigint, id: bigint): Promise<Domain> {
    return this.parts.store.get(projectId, id);
  }

  /** Throws `AppError not_found`. */
  async getByHostname(projectId: bigint, hostname: string): Promise<Domain> {
    const domain = await this.parts.store.findAttached(normalizeHostname(hostname) ?? hostname);
    if (domain?.projectId === projectId) return domain;
    throw new AppError('not_found', `${hostname} is not attached to this project.`);
  }

  /** Those of the ids that are domains of the project, in any order. One statement. */
  findAll(projectId: bigint, ids: readonly bigint[]): Promise<Domain[]> {
    return this.parts.store.findAll(projectId, ids);
  }

  /** What happened to domains of the project, newest first, so much of each as `counts` says. One statement. */
  timelines(projectId: bigint, counts: ReadonlyMap<bigint, number>): Promise<Map<bigint, DomainEvent[]>> {
    return this.parts.store.events(projectId, counts);
  }

  /** The records that the owner still has to create. */
  instructions(domain: Domain): DnsRecord[] {
    const { hostname, isApex, projectId, ownership, dns, dnsDiagnoses } = domain;
    const mustProve = ownership === 'REQUIRED';
    const problems = (JSON.parse(dnsDiagnoses) as Diagnosis[]).filter(isBlocking);
    const lacksOnlyProof = problems.length > 0 && problems.every(({ code }) => code.startsWith('OWNERSHIP_'));
    const records = recordsFor({
      hostname,
      isApex: isApex === 1,
      platformHost: this.platformHost,
      ownership: mustProve ? ownershipRecord(projectId, hostname) : null,
    });
    const leadsHere = dns === 'MATCHES' || lacksOnlyProof;
    return leadsHere ? records.filter(({ type }) => type === 'TXT') : records;
  }

  /** Sets the primary domain and the redirects, all or nothing. Throws `AppError invalid_request`. Spec: Custom domains 10. */
  async configure(
    actor: Actor,
    projectId: bigint,
    { wanted, isDryRun }: { wanted: DomainConfig; isDryRun: boolean },
  ): Promise<ConfiguredDomains> {
    const { store, audit } = this.parts;
    const attached = await store.list(projectId);
    const checked = checkConfig(wanted, attached);
    if ('problems' in checked) throw invalidRequest(checked.problems);
    const { config } = checked;
    const effects = effectOf(config, attached);
    if (isDryRun) return { config, effects, isApplied: false };
    await store.transaction(async (manager) => {
      const ids = attached.map(({ id }) => id);
      const revised = await store.reviseAllIn(manager, ids, (newest) => configured(newest, config));
      const left = new Set(revised.map(({ id }) => id));
      const removed = attached.find(({ id }) => !left.has(id));
      if (removed) throw new AppError('conflict', `${removed.hostname} was removed meanwhile. Try again.`);
      const subject = config.primary ?? '';
      const detail = { redirects: config.redirects.length };
      await audit.record(manager, actor, { action: 'domain.configure', projectId, subject, detail });
    });
    await this.parts.announce();
    await store.prune(attached.map(({ id }) => id));
    return { config, effects, isApplied: true };
  }

  /** The configuration in force. */
  async configuration(projectId: bigint): Promise<ConfiguredDomains> {
    const attached = await this.parts.store.list(projectId);
    const config = {
      primary: attached.find(({ isPrimary }) => isPrimary === 1)?.hostname ?? null,
      redirects: attached.flatMap(({ hostname, redirectTo, redirectStatus }) =>
        redirectTo === null ? [] : [{ from: hostname, to: redirectTo, status: redirectStatus ?? 301 }],
      ),
    };
    return { config, effects: effectOf(config, attached), isApplied: true };
  }
}

/** What a configuration changes of a domain. */
function configured(domain: Domain, config: DomainConfig): Revision {
  const { hostname } = domain;
  const redirect = config.redirects.find(({ from }) => from === hostname);
  const changes = {
    isPrimary: config.primary === hostname ? (1 as const) : (0 as const),
    redirectTo: redirect?.to ?? null,
    redirectStatus: redirect?.status ?? null,
  };
  const isSame =
    domain.isPrimary === changes.isPrimary &&
    domain.redirectTo === changes.redirectTo &&
    domain.redirectStatus === changes.redirectStatus;
  if (isSame) return { changes: {} };
  const message = redirect
    ? `${hostname} redirects to ${redirect.to} with ${redirect.status}.`
    : `${hostname} serves the project${changes.isPrimary ? ' as its primary domain' : ''}.`;
  return { changes, happenings: [{ name: 'domain.configured', message }] };
}

/** Everything found about a domain, DNS first. */
export function diagnosesOf(domain: Domain, atMs: number): Diagnosis[] {
  const ofOrder: Diagnosis[] = JSON.parse(domain.orderDiagnoses);
  const isTold = ofOrder.some(({ code }) => code === 'CERTIFICATE_DELAYED');
  const delayed = isTold ? null : delayedCertificate(domain, ofOrder, atMs);
  return [...JSON.parse(domain.dnsDiagnoses), ...ofOrder, ...(delayed ? [delayed] : [])];
}
