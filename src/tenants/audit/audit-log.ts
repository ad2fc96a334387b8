import type { EntityManager } from 'typeorm';
import { withDrawnIds } from '../../ground/database/drawn-id.js';
import { type Actor, ALWAYS, requireWaiting } from '../../ground/kernel/caller.js';
import { DAY_MS } from '../../ground/kernel/duration.js';
import type { IdGenerator } from '../../ground/kernel/ids.js';
import { type AuditDetail, AuditEvent } from './audit-event.entity.js';

export interface Act {
  action: string;
  projectId: bigint;
  subject: string;
  /** Never a secret. */
  detail?: AuditDetail | undefined;
}

/** The append-only log of acts. */
export class AuditLog {
  static readonly schema = { entities: [AuditEvent], migrations: [] };
  constructor(
    private readonly ids: IdGenerator,
    private readonly now: () => number,
  ) {}

  /**
   * Joins the caller's transaction, so that every act has its record. One statement. Throws, and so undoes the act, once the
   * actor's request has ended. D-237.
   */
  async record(manager: EntityManager, actor: Actor, ...acts: readonly Act[]): Promise<void> {
    requireWaiting(actor.mayWrite ?? ALWAYS);
    const shared = { atMs: this.now(), actor: actor.name, requestId: actor.requestId };
    await withDrawnIds(this.ids, acts.length, (ids) => {
      const events = acts.map(({ detail = null, ...act }, at) => ({
        id: ids[at] as bigint,
        ...shared,
        ...act,
        detail,
      }));
      return manager.insert(AuditEvent, events);
    });
  }
}

/** A year, and time to look back at it. */
export const AUDIT_RETENTION = { keptMs: 400 * DAY_MS, maxOfOwner: 100_000, owner: 'projectId' } as const;
