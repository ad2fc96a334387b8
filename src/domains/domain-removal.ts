import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from 'typeorm';
import type { Actor, AuditLog } from '../audit/audit-log.js';
import type { CertificateStore } from '../certificates/certificate.store.js';
import type { Domain } from './domain.entity.js';
import { type DomainStore, refuseUnknownDomain } from './domain.store.js';
import { KNOWLEDGE_MS } from './host-index.js';
import type { Entry, Happening } from './timeline.js';

interface RemovalParts {
  store: DomainStore;
  certificates: CertificateStore;
  audit: AuditLog;
  /** Tells the other processes at once, where there is a way to. */
  announce(): Promise<void>;
  /** Ends what this process still does for a domain that is gone. */
  onGone(id: bigint): void;
}

/** Ends domains: the claim, the keys, the redirects to them, and the serving of them. */
export class DomainRemoval {
  constructor(
    private readonly parts: RemovalParts,
    private readonly now: () => number,
  ) {}

  /**
   * Because the owner asks. Resolves when no process serves it any more: none uses what it knew of hosts for longer than
   * `KNOWLEDGE_MS`. Throws `AppError not_found`. Spec: Custom domains 11.
   */
  async remove(
    actor: Actor,
    projectId: bigint,
    id: bigint,
  ): Promise<{ domain: Domain; stoppedAtMs: number }> {
    const { store, audit } = this.parts;
    const domain = await store.get(projectId, id);
    const { hostname } = domain;
    await store.transaction(async (manager) => {
      const message = `${hostname} was removed and is no longer served.`;
      const entries = await this.end(manager, domain, { name: 'domain.removed', message });
      if (!entries) return refuseUnknownDomain();
      await store.record(manager, entries);
      await audit.record(manager, actor, { action: 'domain.remove', projectId, subject: hostname });
    });
    await this.ended(id);
    await sleep(KNOWLEDGE_MS);
    return { domain, stoppedAtMs: this.now() };
  }

  /**
   * Within a transaction, which records the entries that this returns; `ended` must follow it. Null when it has ended
   * already.
   */
  async end(manager: EntityManager, domain: Domain, happening: Happening): Promise<Entry[] | null> {
    const { store, certificates } = this.parts;
    const ended = await store.reviseIn(manager, domain.id, () => ({
      changes: {
        attachedHostname: null,
        removedAtMs: this.now(),
        nextCheckAtMs: null,
        nextOrderAtMs: null,
      },
      isServed: true,
    }));
    if (!ended) return null;
    const unled = await store.endRedirectsTo(manager, domain);
    const entries = unled.map((redirecting) => {
      const message = `${redirecting.hostname} no longer redirects to ${domain.hostname}, which is gone.`;
      return { domain: redirecting, happening: { name: 'domain.configured' as const, message } };
    });
    await certificates.destroy(manager, domain);
    return [{ domain, happening }, ...entries];
  }

  /** After the commit: stops what goes on for the domain, here and elsewhere. */
  async ended(id: bigint): Promise<void> {
    this.parts.onGone(id);
    await this.parts.announce();
  }
}
