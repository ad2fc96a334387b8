import { In, MoreThan } from 'typeorm';
import type { Database } from '../database/database.js';
import { INT64_MIN } from '../int64.js';
import { Domain } from './domain.entity.js';
import { DomainEvent } from './domain-event.entity.js';

/** How long it is remembered whose a name was: DNS may still lead here, and another project must then prove the name. */
export const CLAIM_MS = 90 * 24 * 3_600_000;
const LOOKED_AT = 1_000;
const MAX_DELETED = 50;

/** Deletes domains that were removed long ago, with their timelines, a few at a time. */
export class RemovedDomains {
  /** Ids up to here have been looked at in this round. */
  private seenId = INT64_MIN;

  constructor(
    private readonly db: Database,
    private readonly now: () => number,
  ) {}

  /** One step; returns how many it deleted. By id, as an index by removal would mislead SQLite's plans of what is due. */
  async sweep(): Promise<number> {
    const domains = this.db.repository(Domain);
    const rows = await domains.find({
      select: { id: true, removedAtMs: true },
      where: { id: MoreThan(this.seenId) },
      order: { id: 'ASC' },
      take: LOOKED_AT,
    });
    const beforeMs = this.now() - CLAIM_MS;
    const old = rows.filter(({ removedAtMs }) => removedAtMs !== null && removedAtMs < beforeMs);
    const ids = old.slice(0, MAX_DELETED).map(({ id }) => id);
    if (ids.length > 0) {
      await this.db.write(() => this.db.repository(DomainEvent).delete({ domainId: In(ids) }));
      await this.db.write(() => domains.delete({ id: In(ids) }));
    }
    const isMore = old.length > MAX_DELETED || rows.length === LOOKED_AT;
    const last = old.length > MAX_DELETED ? ids.at(-1) : rows.at(-1)?.id;
    this.seenId = isMore && last !== undefined ? last : INT64_MIN;
    return ids.length;
  }
}
