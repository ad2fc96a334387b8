import { type EntityManager, LessThan, LessThanOrEqual, MoreThanOrEqual } from 'typeorm';
import type { Database } from '../../ground/database/database.js';
import { withDrawnIds } from '../../ground/database/drawn-id.js';
import type { Actor } from '../../ground/kernel/caller.js';
import { DAY_MS } from '../../ground/kernel/duration.js';
import { firstIdAt, type IdGenerator } from '../../ground/kernel/ids.js';
import { type AuditDetail, AuditEvent } from './audit-event.entity.js';

export interface Act {
  action: string;
  projectId: bigint;
  subject: string;
  /** Never a secret. */
  detail?: AuditDetail;
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
const KEPT_MS = 400 * DAY_MS;
const MAX_OF_PROJECT = 100_000;
/** A project that acted within this time is checked; twice the interval of the sweeps. */
const RECENT_MS = 120_000;
const MAX_RECENT = 10_000;

/** D-173. Deletes the acts that are older than 400 days, and those of a project beyond its newest 100,000. */
export class AuditRetention {
  constructor(
    private readonly db: Database,
    private readonly now: () => number,
    private readonly maxOfProject = MAX_OF_PROJECT,
  ) {}

  async deleteOldEvents(): Promise<void> {
    await this.db.deleteInSteps(AuditEvent, { id: LessThan(firstIdAt(this.now() - KEPT_MS)) }, 'id');
    for (const projectId of await this.recentlyActive()) {
      const [newest] = await this.events.find({
        select: { id: true },
        where: { projectId },
        order: { id: 'DESC' },
        skip: this.maxOfProject,
        take: 1,
      });
      if (newest)
        await this.db.deleteInSteps(AuditEvent, { projectId, id: LessThanOrEqual(newest.id) }, 'id');
    }
  }

  private async recentlyActive(): Promise<Set<bigint>> {
    const recent = await this.events.find({
      select: { id: true, projectId: true },
      where: { id: MoreThanOrEqual(firstIdAt(this.now() - RECENT_MS)) },
      order: { id: 'DESC' },
      take: MAX_RECENT,
    });
    return new Set(recent.map(({ projectId }) => projectId));
  }

  private get events() {
    return this.db.repository(AuditEvent);
  }
}
