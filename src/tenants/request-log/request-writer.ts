import { setImmediate as letRequestsIn } from 'node:timers/promises';
import { Batches } from '../../ground/database/change-sequence.entity.js';
import type { Database } from '../../ground/database/database.js';
import { untilFree } from '../../ground/database/drawn-id.js';
import { insertRows } from '../../ground/database/insert-rows.js';
import type { CountedRequest } from '../../ground/kernel/answered-request.js';
import { drawIdsAt } from '../../ground/kernel/ids.js';
import { LoggedRequest } from './logged-request.entity.js';
import { type NewRow, secondOf, UnstoredRequests } from './unstored-requests.js';

const BATCH_ROWS = 250;

/**
 * Writes the request log of all projects. A request costs an addition in memory; its row is stored about a second after
 * the end of its second. A killed process loses the rows that were not stored yet. D-114.
 */
export class RequestWriter {
  private readonly unstored = new UnstoredRequests();
  /** Each is stored by one transaction. */
  private waiting: LoggedRequest[][] = [];
  private readonly batches: Batches;
  private flushing: Promise<void> = Promise.resolve();

  constructor(
    db: Database,
    private readonly now: () => number,
    readonly isOn = true,
  ) {
    this.batches = new Batches(db, now);
  }

  note(request: CountedRequest): void {
    if (this.isOn) this.unstored.note(request);
  }

  /** The number of a project's rows that this process has not stored yet. */
  unstoredOf(projectId: bigint): number {
    return this.unstored.countOf(projectId);
  }

  /** Stores the rows of past seconds; with `isLast` all rows. Throws what the driver throws, and retries them next time. */
  flush(isLast = false): Promise<void> {
    const flushing = this.flushing.catch(() => {}).then(() => this.store(isLast));
    this.flushing = flushing;
    return flushing;
  }

  private async store(isLast: boolean): Promise<void> {
    const second = isLast ? Number.POSITIVE_INFINITY : secondOf(this.now());
    const rows = withIds(this.unstored.drain(second));
    for (let at = 0; at < rows.length; at += BATCH_ROWS) this.waiting.push(rows.slice(at, at + BATCH_ROWS));
    for (let batch = this.waiting[0]; batch; batch = this.waiting[0]) {
      await this.insert(batch);
      this.waiting.shift();
      this.unstored.release(batch);
      await letRequestsIn();
    }
  }

  /** The rows get other ids when one of theirs is taken. */
  private insert(batch: LoggedRequest[]): Promise<void> {
    const insert = (rows: LoggedRequest[]) => {
      this.waiting[0] = rows;
      return this.batches.store((manager) => insertRows(manager, LoggedRequest, rows));
    };
    return untilFree(insert, batch, () => withIds(batch));
  }
}

/** `rows` are in the order of time. */
function withIds(rows: readonly NewRow[]): LoggedRequest[] {
  const ids = drawIdsAt(rows.map(({ atMs }) => atMs));
  return rows.map((row, at) => ({ ...row, id: ids[at] as bigint }));
}
