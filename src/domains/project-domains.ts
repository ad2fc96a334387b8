import { requireScope, type ServiceCall } from '../ground/kernel/caller.js';
import type { IdempotencyService, Reservation } from '../tenants/idempotency/idempotency.service.js';
import type { CertificateFacts, CertificateStore } from './certificates/store/certificate.store.js';
import type { ConfiguredDomains, DomainService } from './domain.service.js';
import type { DomainConfig } from './domain-config.js';
import type { DomainAttachment } from './lifecycle/domain-attachment.js';
import type { DomainCheck } from './lifecycle/domain-check.js';
import type { DomainRemoval } from './lifecycle/domain-removal.js';
import type { Domain } from './store/domain.entity.js';
import type { DomainStore } from './store/domain.store.js';
import type { DomainEvent } from './store/timeline.js';

interface ProjectDomainParts {
  store: DomainStore;
  domains: DomainService;
  attachment: DomainAttachment;
  check: DomainCheck;
  removal: DomainRemoval;
  certificates: CertificateStore;
}

/** A removed domain, which no process serves any more. */
export interface StoppedDomain {
  readonly id: bigint;
  readonly hostname: string;
  readonly stoppedAtMs: number;
}

/**
 * Reads and changes the domains of the caller's project. For the caller, domains of other projects do not exist.
 * Every method throws `AppError forbidden` without the scope `domains`.
 */
export class ProjectDomains {
  constructor(
    private readonly parts: ProjectDomainParts,
    private readonly idempotency: IdempotencyService,
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
    return this.parts.certificates.factsOf(domains);
  }

  /** Adds a domain; a repeated Idempotency-Key returns its current state. Throws what `DomainAttachment.add` throws. */
  async add(call: ServiceCall, hostname: string): Promise<Domain> {
    const { actor, caller } = call;
    const { attachment, store } = this.parts;
    return this.once(call, 'addDomain', hostname, async (reservation) => {
      const add = (id?: bigint) => attachment.add(actor, caller.projectId, hostname, id);
      if (!reservation) return add();
      return (await reservation.create(add)) ?? store.get(caller.projectId, reservation.id);
    });
  }

  /** Checks DNS now. Throws what `DomainCheck.verify` throws. Spec: Custom domains 7, 8. */
  async verify(call: ServiceCall, id: bigint): Promise<Domain> {
    const { projectId } = call.caller;
    return this.once(call, 'verifyDomain', String(id), () => this.parts.check.verify(projectId, id));
  }

  /** Checks DNS and orders without the back-off. Throws what `DomainCheck.reverify` throws. Spec: Custom domains 9. */
  async reverify(call: ServiceCall, id: bigint): Promise<Domain> {
    const { projectId } = call.caller;
    return this.once(call, 'reverifyDomain', String(id), () => this.parts.check.reverify(projectId, id));
  }

  /** Sets the primary domain and the redirects. A repeated call changes nothing, so it needs no Idempotency-Key. */
  async configure(
    { caller, actor }: ServiceCall,
    change: { wanted: DomainConfig; isDryRun: boolean },
  ): Promise<ConfiguredDomains> {
    requireScope(caller, 'domains');
    return this.parts.domains.configure(actor, caller.projectId, change);
  }

  /** Removes the domain; resolves when no process serves it any more. Throws `AppError not_found`. Spec: Custom domains 11. */
  async remove({ caller, actor, idempotencyKey: key }: ServiceCall, id: bigint): Promise<StoppedDomain> {
    requireScope(caller, 'domains');
    const remove = async () => {
      const { domain, stoppedAtMs } = await this.parts.removal.remove(actor, caller.projectId, id);
      return { id: domain.id, hostname: domain.hostname, stoppedAtMs };
    };
    if (key === null) return remove();
    const attempt = { caller, key, operation: 'removeDomain', input: [String(id)] };
    return this.idempotency.once(attempt, remove, STOPPED_JSON);
  }

  /** Stores only the id, so a repeated request gets the current state of the domain. */
  private async once(
    { caller, idempotencyKey: key }: ServiceCall,
    operation: string,
    input: string,
    work: (reservation?: Reservation) => Promise<Domain>,
  ): Promise<Domain> {
    requireScope(caller, 'domains');
    if (key === null) return work();
    let domain: Domain | null = null;
    const id = await this.idempotency.once(
      { caller, key, operation, input: [input] },
      async (reservation) => {
        domain = await work(reservation);
        return domain.id;
      },
      ID_JSON,
    );
    return domain ?? this.parts.store.get(caller.projectId, id);
  }
}

const ID_JSON = { write: (id: bigint) => String(id), read: (json: string) => BigInt(json) };

const STOPPED_JSON = {
  write: ({ id, hostname, stoppedAtMs }: StoppedDomain) =>
    JSON.stringify({ id: String(id), hostname, stoppedAt: new Date(stoppedAtMs) }),
  read: (json: string): StoppedDomain => {
    const { id, hostname, stoppedAt } = JSON.parse(json);
    return { id: BigInt(id), hostname, stoppedAtMs: Date.parse(stoppedAt) };
  },
};
