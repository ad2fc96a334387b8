import { setImmediate as letRequestsIn } from 'node:timers/promises';
import { Between, In, LessThan, LessThanOrEqual } from 'typeorm';
import type { Database } from '../../ground/database/database.js';
import { addUp } from '../../ground/database/insert-rows.js';
import { SECOND_MS } from '../../ground/kernel/duration.js';
import { firstIdAt } from '../../ground/kernel/ids.js';
import {
  KEPT_MS,
  LeftOutCount,
  LoggedRequest,
  MAX_LOGGED,
  MAX_PER_SECOND,
  minuteOf,
  secondOf,
} from './logged-request.entity.js';

const IDS_PER_SECOND = firstIdAt(SECOND_MS) - firstIdAt(0);
const SWEEP_ROWS = 500;
const SWEEPS_AT_ONCE = 100;
/** A project is looked at after this process stored so many of its rows. */
const LOOK_AFTER_ROWS = 500;
/** Beyond it all are forgotten; their rows are hidden, and expire. */
const MAX_WRITTEN = 20_000;

// Reads only the index of ids. Ids begin at a whole second.
const CROWDED_SECONDS = `SELECT project_id AS projectId, id - id % ${IDS_PER_SECOND} AS firstId FROM logged_requests
  WHERE id >= ? AND id < ? GROUP BY project_id, id - id % ${IDS_PER_SECOND} HAVING COUNT(*) > ${MAX_PER_SECOND}`;

interface CrowdedSecond {
  projectId: string | bigint;
  firstId: string | bigint;
}

type FoundRow = Pick<LoggedRequest, 'id' | 'atMs'>;

/**
 * Deletes the rows of the request log that are too many or too old. A row that is deleted within 48 hours counts as left
 * out. D-114.
 */
export class RequestRetention {
  /** Times whose seconds are not yet checked for rows of other processes. */
  private unchecked: { fromMs: number; toMs: number } | null = null;
  /** Rows that this process stored since it last looked at a project. */
  private readonly written = new Map<bigint, number>();

  constructor(
    private readonly db: Database,
    private readonly now: () => number,
  ) {}

  /** `rows` are in the order of time. */
  noteStored(rows: readonly LoggedRequest[]): void {
    const [first, last] = [rows[0], rows.at(-1)];
    if (!first || !last) return;
    const { fromMs, toMs } = this.unchecked ?? { fromMs: first.atMs, toMs: last.atMs };
    this.unchecked = { fromMs: Math.min(fromMs, first.atMs), toMs: Math.max(toMs, last.atMs) };
    for (const { projectId } of rows) this.written.set(projectId, (this.written.get(projectId) ?? 0) + 1);
    if (this.written.size > MAX_WRITTEN) this.written.clear();
  }

  /**
   * Several processes can store 50 rows each of the same second. The last one to store finds all of them, and keeps the
   * same 50 as any other process: errors first, then the oldest.
   */
  async trimSeconds(): Promise<void> {
    if (!this.unchecked) return;
    const { fromMs, toMs } = this.unchecked;
    const from = firstIdAt(secondOf(fromMs) * SECOND_MS);
    const to = firstIdAt((secondOf(toMs) + 1) * SECOND_MS);
    const { manager } = this.db.repository(LoggedRequest);
    const crowded: CrowdedSecond[] = await manager.query(CROWDED_SECONDS, [from, to]);
    for (const { projectId, firstId } of crowded) await this.trim(BigInt(projectId), BigInt(firstId));
    this.unchecked = null;
  }

  /** Deletes old rows in batches. */
  async deleteOldRows(): Promise<void> {
    const oldestMs = this.now() - KEPT_MS;
    await this.db.deleteInSteps(LoggedRequest, { id: LessThan(firstIdAt(oldestMs)) }, 'id');
    await this.db.deleteInSteps(LeftOutCount, { minute: LessThan(minuteOf(oldestMs)) }, 'minute');
    for (const [projectId, count] of this.written) {
      if (count < LOOK_AFTER_ROWS) continue;
      await this.deleteBeyondMost(projectId);
      this.written.delete(projectId);
    }
  }

  private async trim(projectId: bigint, firstId: bigint): Promise<void> {
    const rows = await this.rows.find({
      select: { id: true, atMs: true, outcome: true },
      where: { projectId, id: Between(firstId, firstId + IDS_PER_SECOND - 1n) },
      order: { id: 'ASC' },
    });
    const [ok, errors] = [
      rows.filter(({ outcome }) => outcome === 'ok'),
      rows.filter(({ outcome }) => outcome !== 'ok'),
    ];
    await this.leaveOut(projectId, [...errors, ...ok].slice(MAX_PER_SECOND));
  }

  private async deleteBeyondMost(projectId: bigint): Promise<void> {
    const [newest] = await this.rows.find({
      select: { id: true },
      where: { projectId },
      order: { id: 'DESC' },
      skip: MAX_LOGGED,
      take: 1,
    });
    for (let round = 0; newest && round < SWEEPS_AT_ONCE; round += 1) {
      const old = await this.rows.find({
        select: { id: true, atMs: true },
        where: { projectId, id: LessThanOrEqual(newest.id) },
        order: { id: 'ASC' },
        take: SWEEP_ROWS,
      });
      if (old.length === 0) return;
      await this.leaveOut(projectId, old);
      await letRequestsIn();
    }
  }

  /** Deletes the rows, and counts those that no other process deleted first. */
  private async leaveOut(projectId: bigint, rows: readonly FoundRow[]): Promise<void> {
    if (rows.length === 0) return;
    await this.db.transaction(async (manager) => {
      const { affected } = await manager.delete(LoggedRequest, {
        projectId,
        id: In(rows.map(({ id }) => id)),
      });
      const counts = new Map<number, number>();
      for (const { atMs } of rows.slice(0, affected ?? 0)) {
        counts.set(minuteOf(atMs), (counts.get(minuteOf(atMs)) ?? 0) + 1);
      }
      const minutes = [...counts].sort(([a], [b]) => a - b);
      const leftOut = minutes.map(([minute, count]) => ({ projectId, minute, leftOut: count }));
      await addUp(manager, LeftOutCount, { rows: leftOut, counters: ['leftOut'] });
    });
  }

  private get rows() {
    return this.db.repository(LoggedRequest);
  }
}
