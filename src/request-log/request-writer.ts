import { setImmediate as letRequestsIn } from 'node:timers/promises';
import type { EntityManager } from 'typeorm';
import { addUp } from '../database/add-up.js';
import type { Database } from '../database/database.js';
import { drawIdsAt, untilFree } from '../database/drawn-id.js';
import { insertRows } from '../database/insert-rows.js';
import type { AnsweredRequest } from '../kernel/answered-request.js';
import { LeftOutCount } from './left-out-count.entity.js';
import { LeftOutCounts, summed } from './left-out-counts.js';
import { secondOf } from './log-bounds.js';
import { isLoggable, type NewRow } from './loggable-request.js';
import { LoggedRequest } from './logged-request.entity.js';
import type { RequestRetention } from './request-retention.js';
import { UnstoredRequests } from './unstored-requests.js';

const BATCH_ROWS = 250;

/** Rows and counts that one transaction stores. */
interface Batch {
  rows: LoggedRequest[];
  leftOut: LeftOutCount[];
  /** An attempt failed without saying whether its transaction was committed. */
  isUncertain: boolean;
}

/**
 * Writes the request log of all projects. A request costs an addition in memory; its row is stored about a second after
 * the end of its second. A killed process loses the rows and counts that were not stored yet.
 */
export class RequestWriter {
  private readonly leftOut = new LeftOutCounts();
  private readonly unstored = new UnstoredRequests((projectId, minute) =>
    this.leftOut.add(projectId, minute),
  );
  private batches: Batch[] = [];
  private flushing: Promise<void> = Promise.resolve();

  constructor(
    private readonly db: Database,
    private readonly now: () => number,
    private readonly retention: Pick<RequestRetention, 'noteStored' | 'trimSeconds'>,
    private readonly isOn = true,
  ) {}

  note(request: AnsweredRequest): void {
    if (this.isOn && isLoggable(request)) this.unstored.note(request);
  }

  /** Stores the rows of past seconds; with `isLast` all rows. Throws what the driver throws, and retries them next time. */
  flush(isLast = false): Promise<void> {
    const flushing = this.flushing.catch(() => {}).then(() => this.store(isLast));
    this.flushing = flushing;
    return flushing;
  }

  private async store(isLast: boolean): Promise<void> {
    this.collect(isLast ? null : secondOf(this.now()));
    for (let batch = this.batches[0]; batch; batch = this.batches[0]) {
      await this.storeOnce(batch);
      this.batches.shift();
      this.unstored.release(batch.rows);
      this.retention.noteStored(batch.rows);
      await letRequestsIn();
    }
    await this.retention.trimSeconds();
  }

  private collect(currentSecond: number | null): void {
    const rows = withIds(this.unstored.drain(currentSecond));
    const leftOut = summed(this.leftOut.drain());
    for (let at = 0; at < Math.max(rows.length, leftOut.length); at += BATCH_ROWS) {
      const part = <T>(all: readonly T[]) => all.slice(at, at + BATCH_ROWS);
      this.batches.push({ rows: part(rows), leftOut: part(leftOut), isUncertain: false });
    }
  }

  /** Stores the rows exactly once, however often it is tried; counts without rows may be added again. */
  private async storeOnce(batch: Batch): Promise<void> {
    if (batch.isUncertain && (await this.isStored(batch))) return;
    const insert = () => this.db.transaction((manager) => this.insert(manager, batch));
    try {
      await untilFree(insert, () => {
        batch.rows = withIds(batch.rows);
      });
    } catch (error) {
      batch.isUncertain = true;
      throw error;
    }
  }

  private async insert(manager: EntityManager, { rows, leftOut }: Batch): Promise<void> {
    await insertRows(manager, LoggedRequest, rows);
    await addUp(manager, LeftOutCount, { rows: leftOut, counters: ['leftOut'] });
  }

  private async isStored({ rows: [first] }: Batch): Promise<boolean> {
    if (!first) return false;
    const { projectId, id, requestId } = first;
    return this.db.repository(LoggedRequest).existsBy({ projectId, id, requestId });
  }
}

/** `rows` are in the order of time. */
function withIds(rows: readonly NewRow[]): LoggedRequest[] {
  const ids = drawIdsAt(rows.map(({ atMs }) => atMs));
  return rows.map((row, at) => ({ ...row, id: ids[at] as bigint }));
}
