import type { EntityManager } from 'typeorm';
import { withDrawnIds } from '../../ground/database/drawn-id.js';
import type { Actor } from '../../ground/kernel/caller.js';
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
  constructor(
    private readonly ids: IdGenerator,
    private readonly now: () => number,
  ) {}

  /** Joins the caller's transaction, so that every act has its record. One statement. */
  async record(manager: EntityManager, actor: Actor, ...acts: readonly Act[]): Promise<void> {
    const atMs = this.now();
    const events = acts.map(({ action, projectId, subject, detail = null }) => ({
      atMs,
      actor: actor.name,
      action,
      projectId,
      subject,
      requestId: actor.requestId,
      detail,
    }));
    await withDrawnIds(this.ids, acts.length, (ids) =>
      manager.insert(
        AuditEvent,
        events.map((event, index) => ({ id: ids[index] as bigint, ...event })),
      ),
    );
  }
}

/** A year, and time to look back at it. */
export const AUDIT_RETENTION = { keptMs: 400 * DAY_MS, maxOfProject: 100_000 };
