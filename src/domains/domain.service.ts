import type { Actor } from '../ground/kernel/caller.js';
import { AppError, invalidRequest } from '../ground/kernel/errors.js';
import type { AuditLog } from '../tenants/audit/audit-log.js';
import { type Diagnosis, isBlocking, MAX_DIAGNOSES } from './diagnosis/diagnosis.js';
import { type DnsRecord, ownershipRecord, recordsFor } from './diagnosis/dns-records.js';
import { checkConfig, type DomainConfig, type DomainEffect, effectOf } from './domain-config.js';
import { delayedCertificate } from './lifecycle/order-outcome.js';
import { labelOf, normalizeHostname } from './names/hostname.js';
import type { Domain } from './store/domain.entity.js';
import type { DomainStore, Revision } from './store/domain.store.js';

/** The owner's configuration and its effect on each attached host. */
export interface ConfiguredDomains {
  config: DomainConfig;
  effects: DomainEffect[];
  isApplied: boolean;
}

export interface RecordToCreate extends DnsRecord {
  /** The name as most DNS providers want it: without the registrable domain, `@` for that domain itself. */
  label: string;
}

interface DomainParts {
  store: DomainStore;
  audit: AuditLog;
  /** Applies the change to the hosts that this process serves. */
  syncHosts(): Promise<void>;
}

/** Reads and configures the domains of a project. */
export class DomainService {
  constructor(
    private readonly parts: DomainParts,
    private readonly platformHost: string,
  ) {}

  /** Throws `AppError not_found`. */
  async getByHostname(projectId: bigint, hostname: string): Promise<Domain> {
    const domain = await this.parts.store.findAttached(normalizeHostname(hostname) ?? hostname);
    if (domain?.projectId === projectId) return domain;
    throw new AppError('not_found', `${hostname} is not attached to this project.`);
  }

  /** The records that the owner must still create. */
  instructions(domain: Domain): RecordToCreate[] {
    const { hostname, isApex, projectId, ownership, dns, dnsDiagnoses } = domain;
    const mustProve = ownership === 'REQUIRED';
    const problems = dnsDiagnoses.filter(isBlocking);
    const lacksOnlyProof = problems.length > 0 && problems.every(({ code }) => code.startsWith('OWNERSHIP_'));
    const records = recordsFor({
      hostname,
      isApex,
      platformHost: this.platformHost,
      ownership: mustProve ? ownershipRecord(projectId, hostname) : null,
    });
    const leadsHere = dns === 'MATCHES' || lacksOnlyProof;
    const missing = leadsHere ? records.filter(({ type }) => type === 'TXT') : records;
    return missing.map((record) => ({ ...record, label: labelOf(record.name) }));
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
      const effectOn = new Map(effects.map((effect) => [effect.hostname, effect]));
      const revised = await store.reviseIn(manager, { projectId }, (newest) => {
        const effect = effectOn.get(newest.hostname);
        return effect ? configured(newest, effect) : null;
      });
      const left = new Set(revised.map(({ id }) => id));
      const removed = attached.find(({ id }) => !left.has(id));
      if (removed)
        throw new AppError('conflict', `${removed.hostname} was removed during this change. Try again.`);
      const subject = config.primary ?? '';
      const detail = { redirects: config.redirects.length };
      await audit.record(manager, actor, { action: 'domain.configure', projectId, subject, detail });
    });
    await this.parts.syncHosts();
    await store.prune(attached.map(({ id }) => id));
    return { config, effects, isApplied: true };
  }
}

/** The change of a domain under a new configuration. */
function configured(domain: Domain, { hostname, to, status, isPrimary }: DomainEffect): Revision {
  const changes = { isPrimary, redirectTo: to, redirectStatus: status };
  const isSame =
    domain.isPrimary === changes.isPrimary &&
    domain.redirectTo === changes.redirectTo &&
    domain.redirectStatus === changes.redirectStatus;
  if (isSame) return { changes: {} };
  const message =
    to === null
      ? `${hostname} serves the project${isPrimary ? ' as its primary domain' : ''}.`
      : `${hostname} redirects to ${to} with ${status}.`;
  return { changes, happenings: [{ name: 'domain.configured', message }], affectsServing: true };
}

/** The findings about a domain, DNS first; at most `MAX_DIAGNOSES`. */
export function diagnosesOf(domain: Domain, atMs: number): Diagnosis[] {
  const { dnsDiagnoses, orderDiagnoses } = domain;
  const isTold = orderDiagnoses.some(({ code }) => code === 'CERTIFICATE_DELAYED');
  const delayed = isTold ? null : delayedCertificate(domain, orderDiagnoses, atMs);
  return [...dnsDiagnoses, ...orderDiagnoses, ...(delayed ? [delayed] : [])].slice(0, MAX_DIAGNOSES);
}
