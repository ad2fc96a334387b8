import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from 'typeorm';
import type { AuditLog } from '../../audit/audit-log.js';
import type { CertificateStore } from '../../certificates/store/certificate.store.js';
import type { Actor } from '../../kernel/caller.js';
import { KNOWLEDGE_MS } from '../hosts/host-index.js';
import type { Domain } from '../store/domain.entity.js';
import { type DomainStore, refuseUnknownDomain } from '../store/domain.store.js';
import type { Entry, Happening } from '../store/timeline.js';

interface RemovalParts {
  store: DomainStore;
  certificates: CertificateStore;
  audit: AuditLog;
  /** Notifies the other processes at once, if possible. */
  announce(): Promise<void>;
  /** Aborts the work of this process for a removed domain. */
  onGone(id: bigint): void;
}

/** Ends a domain: its claim, its private keys, the redirects to it, and its serving. D-62. */
export class DomainRemoval {
  constructor(
    private readonly parts: RemovalParts,
    private readonly now: () => number,
  ) {}

  /**
   * Removes the domain at the owner's request. Resolves when no process serves it any more: none uses a host table older
   * than `KNOWLEDGE_MS`. Throws `AppError not_found`. Spec: Custom domains 11.
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
      const entries = await this.endDomain(manager, domain, { name: 'domain.removed', message });
      if (!entries) return refuseUnknownDomain();
      await store.record(manager, entries);
      await audit.record(manager, actor, { action: 'domain.remove', projectId, subject: hostname });
    });
    await this.stopWork(id);
    await sleep(KNOWLEDGE_MS);
    return { domain, stoppedAtMs: this.now() };
  }

  /**
   * Runs in a transaction, which must record the returned entries; call `stopWork` after the commit. Null = the domain has
   * already ended.
   */
  async endDomain(manager: EntityManager, domain: Domain, happening: Happening): Promise<Entry[] | null> {
    const { store, certificates } = this.parts;
    const ended = await store.reviseIn(manager, domain.id, () => ({
      changes: {
        attachedHostname: null,
        removedAtMs: this.now(),
        nextCheckAtMs: null,
        nextOrderAtMs: null,
      },
      affectsServing: true,
    }));
    if (!ended) return null;
    const unled = await store.endRedirectsTo(manager, domain);
    const entries = unled.map((redirecting) => {
      const message = `${redirecting.hostname} no longer redirects to ${domain.hostname}, which was removed.`;
      return { domain: redirecting, happening: { name: 'domain.configured' as const, message } };
    });
    await certificates.destroy(manager, domain);
    return [{ domain, happening }, ...entries];
  }

  /** Stops all work for the domain in every process. Call it after the commit. */
  async stopWork(id: bigint): Promise<void> {
    this.parts.onGone(id);
    await this.parts.announce();
  }
}
