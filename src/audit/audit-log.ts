import { userInfo } from 'node:os';
import type { EntityManager } from 'typeorm';
import type { Caller } from '../caller.js';
import { withDrawnIds } from '../database/drawn-id.js';
import type { IdGenerator } from '../ids.js';
import { AuditEvent } from './audit-event.entity.js';

/** Who acts: `name` as the log shows it, and the HTTP request if there is one. */
export interface Actor {
  name: string;
  requestId: string | null;
}

export interface Act {
  action: string;
  projectId: bigint;
  subject: string;
  /** Never a secret. */
  detail?: Record<string, string | number | null>;
}

/** The append-only record of who changed what. */
export class AuditLog {
  constructor(
    private readonly ids: IdGenerator,
    private readonly now: () => number,
  ) {}

  /** Joins the caller's transaction, so that no act is without its record. One statement. */
  async record(manager: EntityManager, actor: Actor, ...acts: readonly Act[]): Promise<void> {
    const atMs = this.now();
    const events = acts.map(({ action, projectId, subject, detail }) => ({
      atMs,
      actor: actor.name,
      action,
      projectId,
      subject,
      requestId: actor.requestId,
      detail: detail ? JSON.stringify(detail) : null,
    }));
    await withDrawnIds(this.ids, acts.length, (ids) =>
      manager.insert(
        AuditEvent,
        events.map((event, index) => ({ id: ids[index] as bigint, ...event })),
      ),
    );
  }
}

export function keyActor(caller: Caller, requestId: string): Actor {
  return { name: `key:${caller.keyId}`, requestId };
}

export function commandLineActor(): Actor {
  return { name: `cli:${userInfo().username}`, requestId: null };
}
