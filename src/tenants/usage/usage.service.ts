import { setImmediate as letRequestsIn } from 'node:timers/promises';
import { LessThan } from 'typeorm';
import { Batches, deleteOldWriters } from '../../ground/database/change-sequence.entity.js';
import type { Database } from '../../ground/database/database.js';
import { addUp } from '../../ground/database/insert-rows.js';
import { deleteInSteps } from '../../ground/database/retention.js';
import type { CountedRequest } from '../../ground/kernel/answered-request.js';
import type { Capability } from '../../ground/kernel/capability.js';
import { SECOND_MS } from '../../ground/kernel/duration.js';
import { Usage1780000004000 } from '../../ground/migrations/1780000004000-usage.js';
import { BUCKET_NAMES, type Bucket, oldestKept } from './buckets.js';
import { UsageCount } from './usage-count.entity.js';
import { type Dimension, OUTCOMES, type Tally, UsageCounters } from './usage-counters.js';
import { daysOf, rowsOf, storedNames } from './usage-rows.js';

/** Bounds memory to about 35 MB. */
const MAX_COUNTS = 100_000;
/** A count makes up to three rows. SQLite writes synchronously; a batch of this size takes a few milliseconds. */
const BATCH_COUNTS = 100;
const READ_ATTEMPTS = 5;

/** A row as a read returns it. */
export type StoredCount = Omit<UsageCount, 'projectId' | 'bucket'>;

export interface UsageRange {
  bucket: Bucket;
  /** The first and the last bucket number. */
  numbers: readonly [number, number];
  dimensions: readonly Dimension[];
}

/**
 * Counts the requests of each project's keys. A request costs a few additions in memory; every few seconds the sums are
 * added to the rows, which all processes share. A killed process loses the sums that were not added yet.
 */
export class UsageService implements Capability {
  static readonly schema = { entities: [UsageCount], migrations: [Usage1780000004000] };
  readonly chores = [{ name: 'storing usage', everyMs: 5 * SECOND_MS, work: () => this.flush() }];
  private flushing: Promise<void> | null = null;
  /** The number of stored batches. A read repeats when it changes, so that each batch counts exactly once. */
  private stored = 0;
  private isFailing = false;
  /** Tallies that are being stored, or whose outcome is unknown. */
  private batch: readonly Tally[] = [];
  private readonly batches: Batches;
  private readonly counters: UsageCounters;

  constructor(
    private readonly db: Database,
    private readonly now: () => number,
    private readonly maxCounts = MAX_COUNTS,
  ) {
    this.batches = new Batches(db, now);
    this.counters = new UsageCounters(maxCounts);
  }

  count(request: CountedRequest): void {
    this.counters.count(request);
    const isHalfFull = this.counters.size * 2 >= this.maxCounts;
    if (isHalfFull && !this.isFailing && !this.flushing) this.flush().catch(() => {});
  }

  /** The rows of a range, and this process's unstored counts in the same form. One query. */
  async read(projectId: bigint, range: UsageRange): Promise<StoredCount[]> {
    const { bucket, numbers, dimensions } = range;
    for (let attempt = 1; ; attempt += 1) {
      await this.flushing?.catch(() => {});
      const before = this.stored;
      const rows = dimensions.length === 0 ? [] : await this.readStored(projectId, range);
      const isWhole = this.stored === before && !this.flushing;
      if (!isWhole && attempt < READ_ATTEMPTS) continue;
      const [first, last] = numbers;
      const unstored = this.batch.filter((tally) => tally.projectId === projectId);
      const held = rowsOf([...unstored, ...this.counters.of(projectId)], this.now()).filter(
        (row) =>
          row.bucket === bucket &&
          row.number >= first &&
          row.number <= last &&
          dimensions.includes(row.dimension),
      );
      return [...rows, ...held];
    }
  }

  /** Stores all counts, after a flush that is still running. Throws what the driver throws, and keeps the unstored counts. */
  flush(): Promise<void> {
    const before = this.flushing?.catch(() => {}) ?? Promise.resolve();
    const flushing = before
      .then(() => this.storeAll())
      .finally(() => {
        if (this.flushing === flushing) this.flushing = null;
      });
    this.flushing = flushing;
    return flushing;
  }

  /** Deletes rows that are too old to keep, in batches. */
  async deleteOldRows(): Promise<void> {
    await deleteOldWriters(this.db, this.now());
    for (const bucket of BUCKET_NAMES) {
      const where = { bucket, number: LessThan(oldestKept(bucket, this.now())) };
      const order = { number: 'ASC' } as const;
      for (;;) {
        const oldest = await this.db.repository(UsageCount).findOne({ where, order });
        if (!oldest) break;
        await deleteInSteps(this.db, UsageCount, { bucket, number: oldest.number }, 'projectId');
      }
    }
  }

  /** The tallies of its start: a request that arrives meanwhile may wait for the next flush. */
  private async storeAll(): Promise<void> {
    let left = this.counters.tallyCount;
    try {
      for (;;) {
        if (this.batch.length === 0 && left > 0) {
          this.batch = this.counters.take(BATCH_COUNTS);
          left -= this.batch.length;
        }
        if (this.batch.length === 0) break;
        await this.add(this.batch);
        this.batch = [];
        this.stored += 1;
        await letRequestsIn();
      }
      this.isFailing = false;
    } catch (error) {
      this.isFailing = true;
      throw error;
    }
  }

  /**
   * Adds tallies to the rows of their minutes, hours and days, in one transaction: a read sees a request in all dimensions
   * or in none. The limit of names is exact among all processes, because a transaction first locks its days. After a
   * rejection the next call must bring the same tallies, which are added once.
   */
  private async add(tallies: readonly Tally[]): Promise<void> {
    const nowMs = this.now();
    const days = daysOf(rowsOf(tallies, nowMs));
    await this.batches.store(async (manager) => {
      // Adding nothing to one row of a day locks it until the transaction ends.
      await addUp(manager, UsageCount, { rows: days, counters: OUTCOMES });
      const rows = rowsOf(tallies, nowMs, await storedNames(manager, days));
      await addUp(manager, UsageCount, { rows, counters: OUTCOMES });
    });
  }

  private async readStored(
    projectId: bigint,
    { bucket, numbers, dimensions }: UsageRange,
  ): Promise<StoredCount[]> {
    const rows = await this.db.execute<Record<keyof StoredCount, never>>(
      `SELECT dimension, bucket_number AS number, name, admitted, refused, failed, units FROM usage_by_dimension
        WHERE project_id = ? AND bucket = ? AND dimension IN (${dimensions.map(() => '?').join(', ')})
          AND bucket_number BETWEEN ? AND ?`,
      [projectId, bucket, ...dimensions, ...numbers],
    );
    return rows.map(({ dimension, number, name, admitted, refused, failed, units }) => ({
      dimension,
      number: Number(number),
      name,
      admitted: Number(admitted),
      refused: Number(refused),
      failed: Number(failed),
      units: Number(units),
    }));
  }
}
