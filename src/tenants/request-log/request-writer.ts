import { setImmediate as letRequestsIn } from 'node:timers/promises';
import { Batches } from '../../ground/database/change-sequence.entity.js';
import type { Database } from '../../ground/database/database.js';
import { drawIdsAt, untilFree } from '../../ground/database/drawn-id.js';
import { addUp, insertRows } from '../../ground/database/insert-rows.js';
import type { AnsweredRequest } from '../../ground/kernel/answered-request.js';
import { isLoggable, LeftOutCount, LoggedRequest, type NewRow, secondOf } from './logged-request.entity.js';
import type { RequestRetention } from './request-retention.js';
import { UnstoredRequests } from './unstored-requests.js';

const BATCH_ROWS = 250;

/** Rows and counts that one transaction stores. */
interface Batch {
  rows: LoggedRequest[];
  leftOut: LeftOutCount[];
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
  private waiting: Batch[] = [];
  private readonly batches: Batches;
  private flushing: Promise<void> = Promise.resolve();

  constructor(
    db: Database,
    private readonly now: () => number,
    private readonly retention: Pick<RequestRetention, 'noteStored' | 'trimSeconds'>,
    private readonly isOn = true,
  ) {
    this.batches = new Batches(db, now);
  }

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
    for (let batch = this.waiting[0]; batch; batch = this.waiting[0]) {
      await this.insert(batch);
      this.waiting.shift();
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
      this.waiting.push({ rows: part(rows), leftOut: part(leftOut) });
    }
  }

  /** The rows get other ids when one of theirs is taken. */
  private insert(batch: Batch): Promise<void> {
    const insert = () =>
      this.batches.store(async (manager) => {
        await insertRows(manager, LoggedRequest, batch.rows);
        await addUp(manager, LeftOutCount, { rows: batch.leftOut, counters: ['leftOut'] });
      });
    return untilFree(insert, () => {
      batch.rows = withIds(batch.rows);
    });
  }
}

/** `rows` are in the order of time. */
function withIds(rows: readonly NewRow[]): LoggedRequest[] {
  const ids = drawIdsAt(rows.map(({ atMs }) => atMs));
  return rows.map((row, at) => ({ ...row, id: ids[at] as bigint }));
}

/** About 8 MB. A project needs one for each minute in which the database is away. */
const MAX_COUNTS = 100_000;

/** Counts in memory the requests that the log leaves out, until the counts are stored. */
class LeftOutCounts {
  /** Oldest minute first. */
  private projects = new Map<bigint, LeftOutCount[]>();
  private size = 0;

  /** At the bound, a new minute counts as the previous one, and a new project is not counted. */
  add(projectId: bigint, minute: number, count = 1): void {
    const counts = this.projects.get(projectId);
    const newest = counts?.at(-1);
    if (newest && (newest.minute === minute || this.size >= MAX_COUNTS)) newest.leftOut += count;
    else if (this.size < MAX_COUNTS) {
      const added = { projectId, minute, leftOut: count };
      if (counts) counts.push(added);
      else this.projects.set(projectId, [added]);
      this.size += 1;
    }
  }

  /** Returns and removes all counts; a project and minute may occur twice. */
  drain(): LeftOutCount[] {
    const all = [...this.projects.values()].flat();
    this.projects = new Map();
    this.size = 0;
    return all;
  }
}

/** One row for each project and minute, sorted by primary key. */
function summed(counts: readonly LeftOutCount[]): LeftOutCount[] {
  const rows = new Map<string, LeftOutCount>();
  for (const count of counts) {
    const key = `${count.projectId}/${count.minute}`;
    const known = rows.get(key);
    if (known) known.leftOut += count.leftOut;
    else rows.set(key, { ...count });
  }
  return [...rows.values()].sort((a, b) =>
    a.projectId === b.projectId ? a.minute - b.minute : a.projectId < b.projectId ? -1 : 1,
  );
}
