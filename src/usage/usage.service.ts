import { setImmediate as letRequestsIn } from 'node:timers/promises';
import { Between, LessThan, LessThanOrEqual } from 'typeorm';
import type { Database } from '../database/database.js';
import { BUCKETS, type Bucket, numberOf, oldestKept, USAGE_WINDOWS, type UsageWindow } from './buckets.js';
import { UsageCount } from './usage-count.entity.js';
import { type Outcomes, type Series, UsageCounters } from './usage-counters.js';
import { rowsOf } from './usage-rows.js';

/** Bounds memory to about 25 MB. */
const MAX_TALLIES = 100_000;
/** A tally makes up to six rows. SQLite writes synchronously: this many take a few milliseconds. */
const BATCH_TALLIES = 50;
const SWEEP_ROWS = 500;
const SWEEPS_AT_ONCE = 100;
const READ_ATTEMPTS = 5;

export interface UsagePoint extends Record<Series, Outcomes> {
  /** When the minute or day begins. */
  atMs: number;
}

/**
 * How many requests the keys of each project make. A request costs an addition in memory; the sums are added to the rows
 * of all processes every few seconds. A kill forgets what was not yet added.
 */
export class UsageService {
  private flushing: Promise<void> | null = null;
  /** Batches stored so far: who reads rows and memory must not meet a batch in both, or in none. */
  private stored = 0;
  private isFailing = false;
  private readonly counters: UsageCounters;

  constructor(
    private readonly db: Database,
    private readonly now: () => number,
    private readonly maxTallies = MAX_TALLIES,
  ) {
    this.counters = new UsageCounters(maxTallies);
  }

  /** Counts one request, at its door, or once more under `manage`. */
  count(projectId: bigint, door: Series, decision: keyof Outcomes): void {
    this.counters.count({ projectId, minute: numberOf('minute', this.now()), door, decision });
    const isHalfFull = this.counters.size * 2 >= this.maxTallies;
    if (isHalfFull && !this.isFailing && !this.flushing) this.flush().catch(() => {});
  }

  /** Every minute or day of the window, oldest first, with what this process has not stored yet. One query. */
  async read(projectId: bigint, window: UsageWindow): Promise<UsagePoint[]> {
    const { bucket, points } = USAGE_WINDOWS[window];
    const last = numberOf(bucket, this.now());
    const first = last - points + 1;
    const rows = await this.rows(projectId, bucket, [first, last]);
    const found = Array.from({ length: points }, (_, index) => ({
      atMs: (first + index) * BUCKETS[bucket].sizeMs,
      graphql: { admitted: 0, refused: 0 },
      rest: { admitted: 0, refused: 0 },
      manage: { admitted: 0, refused: 0 },
    }));
    for (const { number, door, admitted, refused } of rows) {
      const outcomes = found[number - first]?.[door];
      if (!outcomes) continue;
      outcomes.admitted += admitted;
      outcomes.refused += refused;
    }
    return found;
  }

  /** Stores what was counted so far, after what is being stored. Throws what the driver throws; what it refused is kept. */
  flush(): Promise<void> {
    const before = this.flushing?.catch(() => {}) ?? Promise.resolve();
    const flushing = before
      .then(() => this.store())
      .finally(() => {
        if (this.flushing === flushing) this.flushing = null;
      });
    this.flushing = flushing;
    return flushing;
  }

  /** Deletes what is older than is kept, in pieces. */
  async sweep(): Promise<void> {
    for (const bucket of Object.keys(BUCKETS) as Bucket[]) {
      const number = LessThan(oldestKept(bucket, this.now()));
      for (let round = 0; round < SWEEPS_AT_ONCE; round += 1) {
        const old = await this.table.find({
          select: { number: true, projectId: true },
          where: { bucket, number },
          order: { number: 'ASC', projectId: 'ASC' },
          take: SWEEP_ROWS,
        });
        const last = old.at(-1);
        if (!last) break;
        const upTo = { number: last.number, projectId: LessThanOrEqual(last.projectId) };
        await this.db.write(() => this.table.delete({ bucket, number: LessThan(last.number) }));
        await this.db.write(() => this.table.delete({ bucket, ...upTo }));
        await letRequestsIn();
      }
    }
  }

  private async rows(projectId: bigint, bucket: Bucket, range: [number, number]): Promise<UsageCount[]> {
    for (let attempt = 1; ; attempt += 1) {
      await this.flushing?.catch(() => {});
      const before = this.stored;
      const rows = await this.table.find({ where: { projectId, bucket, number: Between(...range) } });
      const isWhole = this.stored === before && !this.flushing;
      if (!isWhole && attempt < READ_ATTEMPTS) continue;
      const held = rowsOf(this.counters.of(projectId), this.now()).filter((row) => row.bucket === bucket);
      return [...rows, ...held];
    }
  }

  private async store(): Promise<void> {
    const tallies = this.counters.take();
    try {
      while (tallies.length > 0) {
        const batch = tallies.slice(-BATCH_TALLIES);
        const rows = rowsOf(batch, this.now());
        await this.db.addUp(UsageCount, { rows, counters: ['admitted', 'refused'] });
        tallies.length -= batch.length;
        this.stored += 1;
        await letRequestsIn();
      }
      this.isFailing = false;
    } catch (error) {
      this.isFailing = true;
      this.counters.putBack(tallies);
      throw error;
    }
  }

  private get table() {
    return this.db.repository(UsageCount);
  }
}
