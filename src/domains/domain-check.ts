import type { ProjectService } from '../projects/project.service.js';
import { orderAnew, outcomeOf } from './check-outcome.js';
import { ownershipRecord } from './dns-records.js';
import type { Domain } from './domain.entity.js';
import type { DomainStore } from './domain.store.js';
import { requireCustomDomains } from './domain-plan.js';
import type { Inspector } from './inspector.js';
import type { Proof } from './observation.js';
import type { OwnerLooks } from './owner-looks.js';

interface CheckParts {
  store: DomainStore;
  projects: ProjectService;
  inspector: Inspector;
  looks: OwnerLooks;
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
    return this.parts.looks.take(projectId, () => this.run(domain, { isAsked: true }));
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

  /** Returns the domain as it is afterwards; unchanged when it was removed meanwhile. Throws the reason of an aborted signal. */
  async run(
    domain: Domain,
    { isAsked, signal }: { isAsked: boolean; signal?: AbortSignal },
  ): Promise<Domain> {
    const { hostname, isApex } = domain;
    const subject = { hostname, isApex: isApex === 1, ownership: proofOf(domain) };
    const inspection = await this.parts.inspector.inspect(subject, signal);
    // What was cut short says nothing about the records.
    signal?.throwIfAborted();
    const revised = await this.parts.store.revise(domain.id, (newest) =>
      outcomeOf(isAsked ? { ...newest, waitingSinceMs: this.now() } : newest, inspection, {
        isAsked,
        atMs: this.now(),
      }),
    );
    await this.parts.store.prune([domain.id]);
    this.parts.onDue();
    return revised ?? domain;
  }
}

/** Null = what the TXT record says is of no account: the name was proved before, or led here. */
function proofOf({ projectId, hostname, ownership, verifiedAtMs }: Domain): Proof | null {
  const isAssumed = ownership === 'ASSUMED';
  if (ownership === 'PROVED' || (isAssumed && verifiedAtMs !== null)) return null;
  return { ...ownershipRecord(projectId, hostname), isAssumed };
}
