import { In, MoreThan } from 'typeorm';
import type { Database } from '../../ground/database/database.js';
import { INT64_MIN } from '../../ground/kernel/int64.js';
import { Domain } from '../store/domain.entity.js';
import { DomainEvent } from '../store/timeline.js';

/** How long a removed domain is kept: its DNS may still point here, so another project must prove the name. */
export const CLAIM_MS = 90 * 24 * 3_600_000;
const SCANNED_ROWS = 1_000;
/** Each has up to 200 events. */
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
    this.seenId = ids[MAX_DELETED - 1] ?? rows[SCANNED_ROWS - 1]?.id ?? INT64_MIN;
    return ids.length;
  }
}
