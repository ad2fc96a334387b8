import { setTimeout as sleep } from 'node:timers/promises';
import { type EntityManager, In, MoreThan } from 'typeorm';
import type { Database } from '../../ground/database/database.js';
import type { Actor } from '../../ground/kernel/caller.js';
import { INT64_MIN } from '../../ground/kernel/int64.js';
import type { AuditLog } from '../../tenants/audit/audit-log.js';
import type { CertificateStore } from '../certificates/store/certificate.store.js';
import { KNOWLEDGE_MS } from '../hosts/host-index.js';
import { Domain } from '../store/domain.entity.js';
import { type DomainStore, refuseUnknownDomain } from '../store/domain.store.js';
import { DomainEvent, type Happening } from '../store/timeline.js';

interface RemovalParts {
  store: DomainStore;
  certificates: CertificateStore;
  audit: AuditLog;
  /** Applies the change to the hosts that this process serves. */
  syncHosts(): Promise<void>;
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
    const { store, audit, syncHosts } = this.parts;
    const domain = await store.get(projectId, id);
    const { hostname } = domain;
    await store.transaction(async (manager) => {
      const message = `${hostname} was removed and is no longer served.`;
      if (!(await this.endDomain(manager, domain, { name: 'domain.removed', message })))
        return refuseUnknownDomain();
      await audit.record(manager, actor, { action: 'domain.remove', projectId, subject: hostname });
    });
    await syncHosts();
    await sleep(KNOWLEDGE_MS);
    return { domain, stoppedAtMs: this.now() };
  }

  /** Joins the caller's transaction. False = the domain has already ended. */
  async endDomain(manager: EntityManager, domain: Domain, happening: Happening): Promise<boolean> {
    const { store, certificates } = this.parts;
    const { id, projectId, hostname } = domain;
    const unled = { redirectTo: null, redirectStatus: null };
    const ended = {
      attachedHostname: null,
      removedAtMs: this.now(),
      nextCheckAtMs: null,
      nextOrderAtMs: null,
    };
    const revised = await store.reviseIn(manager, { projectId }, (each) => {
      if (each.id === id) return { changes: ended, happenings: [happening], affectsServing: true };
      if (each.redirectTo !== hostname) return null;
      const message = `${each.hostname} no longer redirects to ${hostname}, which was removed.`;
      const happenings = [{ name: 'domain.configured' as const, message }];
      return { changes: unled, happenings, affectsServing: true };
    });
    if (!revised.some((each) => each.id === id)) return false;
    await certificates.destroy(manager, domain);
    return true;
  }
}

/** How long a removed domain is kept: its DNS may still point here, so another project must prove the name. */
export const CLAIM_MS = 90 * 24 * 3_600_000;
const SCANNED_ROWS = 1_000;
const MAX_DELETED = 50;

/** Deletes domains that were removed more than `CLAIM_MS` ago, with their timelines, a few at a time. */
export class RemovedDomains {
  /** The last id that this round has processed. */
  private seenId = INT64_MIN;

  constructor(
    private readonly db: Database,
    private readonly now: () => number,
  ) {}

  /**
   * Deletes one batch and returns its size. Scans by id: an index on the removal time would mislead SQLite's query plans
   * for due work.
   */
  async deleteOldDomains(): Promise<number> {
    const domains = this.db.repository(Domain);
    const rows = await domains.find({
      select: { id: true, removedAtMs: true },
      where: { id: MoreThan(this.seenId) },
      order: { id: 'ASC' },
      take: SCANNED_ROWS,
    });
    const beforeMs = this.now() - CLAIM_MS;
    const old = rows.filter(({ removedAtMs }) => removedAtMs !== null && removedAtMs < beforeMs);
    const ids = old.slice(0, MAX_DELETED).map(({ id }) => id);
    if (ids.length > 0) {
      await this.db.write(() => this.db.repository(DomainEvent).delete({ domainId: In(ids) }));
      await this.db.write(() => domains.delete({ id: In(ids) }));
    }
    const isMore = old.length > MAX_DELETED || rows.length === SCANNED_ROWS;
    const last = old.length > MAX_DELETED ? ids.at(-1) : rows.at(-1)?.id;
    this.seenId = isMore && last !== undefined ? last : INT64_MIN;
    return ids.length;
  }
}
