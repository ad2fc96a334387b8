import { setImmediate as letRequestsIn } from 'node:timers/promises';
import type { CountedRequest } from '../../ground/kernel/answered-request.js';
import type { Bucket } from './buckets.js';
import { rowsOf, type StoredCount, type UsageStore } from './usage.store.js';
import { type Dimension, type Tally, UsageCounters } from './usage-counters.js';

/** Bounds memory to about 35 MB. */
const MAX_COUNTS = 100_000;
/** A count makes up to three rows. SQLite writes synchronously; a batch of this size takes a few milliseconds. */
const BATCH_COUNTS = 100;
const READ_ATTEMPTS = 5;

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
export class UsageService {
  private flushing: Promise<void> | null = null;
  /** The number of stored batches. A read repeats when it changes, so that each batch counts exactly once. */
  private stored = 0;
  private isFailing = false;
  /** Tallies that are being stored, or whose outcome is unknown. */
  private batch: readonly Tally[] = [];
  private readonly counters: UsageCounters;

  constructor(
    private readonly store: UsageStore,
    private readonly now: () => number,
    private readonly maxCounts = MAX_COUNTS,
  ) {
    this.counters = new UsageCounters(maxCounts);
  }

  count(request: CountedRequest): void {
    this.counters.count(request);
    const isHalfFull = this.counters.size * 2 >= this.maxCounts;
    if (isHalfFull && !this.isFailing && !this.flushing) this.flush().catch(() => {});
  }

  /** The rows of a range, and this process's unstored counts in the same form. One query. */
  async read(projectId: bigint, { bucket, numbers, dimensions }: UsageRange): Promise<StoredCount[]> {
    for (let attempt = 1; ; attempt += 1) {
      await this.flushing?.catch(() => {});
      const before = this.stored;
      const rows =
        dimensions.length === 0 ? [] : await this.store.read(projectId, bucket, numbers, dimensions);
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

  /** Deletes rows that are too old to keep. */
  deleteOldCounts(): Promise<void> {
    return this.store.deleteOld();
  }

  /** The tallies of its start: a request that arrives meanwhile may wait for the next flush. */
  private async storeAll(): Promise<void> {
    let left = this.counters.tallyCount;
    try {
      for (;;) {
        if (this.batch.length === 0 && left > 0) this.batch = this.counters.take(BATCH_COUNTS);
        if (this.batch.length === 0) break;
        await this.store.add(this.batch);
        left -= this.batch.length;
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
}
