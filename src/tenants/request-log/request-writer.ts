import { randomInt } from 'node:crypto';
import { setImmediate as letRequestsIn } from 'node:timers/promises';
import { Batches } from '../../ground/database/change-sequence.entity.js';
import type { Database } from '../../ground/database/database.js';
import { untilFree } from '../../ground/database/drawn-id.js';
import { insertRows } from '../../ground/database/insert-rows.js';
import type { CountedRequest } from '../../ground/kernel/answered-request.js';
import type { Capability } from '../../ground/kernel/capability.js';
import { SECOND_MS } from '../../ground/kernel/duration.js';
import { drawIdsAt } from '../../ground/kernel/ids.js';
import { INT32_MAX } from '../../ground/kernel/int64.js';
import { Strikes1780000007000 } from '../../ground/migrations/1780000007000-strikes.js';
import { LoggedRequest } from './logged-request.entity.js';

const BATCH_ROWS = 250;
/** Two processes whose ids are taken draw the next ones at most so far apart. */
const SKIPPED = 2 ** 11;
/** Of a project, in each process. */
const MAX_PER_SECOND = 50;
/** So many rows of a project without an error wait in memory, and as many errors besides. */
const MAX_OF_PROJECT = 500;
/** The same for all projects together: 20,000 rows are about 8 MB. */
const MAX_IN_ALL = 10_000;

/**
 * Writes the request log of all projects. A request costs an addition in memory; its row is stored about a second after
 * the end of its second. A killed process loses the rows that were not stored yet. D-114.
 */
export class RequestWriter implements Capability {
  /** The migration of usage makes the table. */
  static readonly schema = { entities: [LoggedRequest], migrations: [Strikes1780000007000] };
  readonly chores = [
    { name: 'storing the request log', everyMs: SECOND_MS, work: (isEnd: boolean) => this.flush(isEnd) },
  ];
  private readonly unstored = new UnstoredRequests();
  /** Each is stored by one transaction. */
  private waiting: StoredRow[][] = [];
  private readonly batches: Batches;
  private largestId = 0n;
  private flushed: Promise<void> = Promise.resolve();

  constructor(
    db: Database,
    private readonly now: () => number,
    readonly isOn = true,
    /** Called for each project that has new rows, unless only its dashboards sent the requests. */
    private readonly onStored: (projectId: bigint) => void = () => {},
  ) {
    this.batches = new Batches(db, now);
  }

  /** From now on rows get larger ids. As `IdGenerator.startAbove`. */
  startAbove(id: bigint): void {
    this.largestId = id;
  }

  note(request: CountedRequest): void {
    if (this.isOn) this.unstored.note(request);
  }

  /** The number of a project's rows that this process has not stored yet. */
  unstoredOf(projectId: bigint): number {
    return this.unstored.countOf(projectId);
  }

  /**
   * Stores the rows of past seconds, and with `isLast` all rows, once the flush before has ended. Throws what the driver
   * throws; the next flush retries.
   */
  flush(isLast = false): Promise<void> {
    this.flushed = this.flushed.catch(() => {}).then(() => this.storeDrained(isLast));
    return this.flushed;
  }

  private async storeDrained(isLast: boolean): Promise<void> {
    const second = isLast ? Number.POSITIVE_INFINITY : secondOf(this.now());
    const rows = withIds(this.unstored.drain(second), this.largestId);
    this.largestId = rows.at(-1)?.id ?? this.largestId;
    for (let at = 0; at < rows.length; at += BATCH_ROWS) this.waiting.push(rows.slice(at, at + BATCH_ROWS));
    for (let batch = this.waiting[0]; batch; batch = this.waiting[0]) {
      await this.insert(batch);
      const [stored] = this.waiting.splice(0, 1);
      const last = stored?.at(-1)?.id ?? 0n;
      if (last > this.largestId) this.largestId = last;
      this.unstored.release(batch);
      // A dashboard that followed its own reads would read for ever.
      const others = batch.filter(({ isDashboardRead }) => !isDashboardRead);
      for (const projectId of new Set(others.map((row) => row.projectId))) this.onStored(projectId);
      await letRequestsIn();
    }
  }

  /** The rows get other ids when one of theirs is taken. */
  private insert(batch: StoredRow[]): Promise<void> {
    const insert = (rows: StoredRow[]) => {
      this.waiting[0] = rows;
      return this.batches.store((manager) => insertRows(manager, LoggedRequest, rows));
    };
    // Behind the taken ids, also when the clock is behind them.
    return untilFree(insert, batch, () =>
      withIds(batch, (batch.at(-1)?.id ?? 0n) + BigInt(randomInt(SKIPPED))),
    );
  }
}

/** `rows` are in the order of time. Their ids are larger than `above`. */
function withIds(rows: readonly NewRow[], above: bigint): StoredRow[] {
  const ids = drawIdsAt(
    rows.map(({ atMs }) => atMs),
    above,
  );
  return rows.map((row, at) => ({ ...row, id: ids[at] as bigint }));
}

/** A row whose id is drawn when it is stored. */
export type NewRow = Omit<StoredRow, 'id'>;

type StoredRow = LoggedRequest & Pick<CountedRequest, 'isDashboardRead'>;

/** The rows of a project in the current second, and how many of all seconds are not released. */
interface ProjectRows {
  errors: NewRow[];
  others: NewRow[];
  held: number;
}

/**
 * Collects the rows of the request log in memory. Of each second it keeps 50 rows of a project, errors first: when the
 * second has ended, its errors replace the newest other rows. Drained rows count until they are released, so memory stays
 * bounded while the database is away.
 */
export class UnstoredRequests {
  /** The current second, numbered from 1970. */
  private second = 0;
  private readonly projects = new Map<bigint, ProjectRows>();
  /** The rows of past seconds. */
  private decided: NewRow[] = [];
  private heldInAll = 0;

  /** The number of rows of a project that are kept and not released. */
  countOf(projectId: bigint): number {
    const { errors, others, held } = this.rowsOf(projectId);
    return held - Math.max(0, errors.length + others.length - MAX_PER_SECOND);
  }

  note(request: CountedRequest): void {
    const { projectId, atMs, outcome } = request;
    this.beginSecond(secondOf(atMs));
    const project = this.rowsOf(projectId);
    const [rows, share] = outcome === 'ok' ? [project.others, 1] : [project.errors, 2];
    const hasRoom = project.held < share * MAX_OF_PROJECT && this.heldInAll < share * MAX_IN_ALL;
    const isFull = rows.length >= MAX_PER_SECOND;
    if (isFull) keepStrike(rows, request);
    if (isFull || !hasRoom) return;
    rows.push(rowOf(request));
    if (project.held === 0) this.projects.set(projectId, project);
    project.held += 1;
    this.heldInAll += 1;
  }

  /** Removes and returns the rows of other seconds than `second`, oldest first. */
  drain(second: number): NewRow[] {
    this.beginSecond(second);
    const drained = this.decided;
    this.decided = [];
    return drained.sort((a, b) => a.atMs - b.atMs);
  }

  /** Frees the room of rows, which are stored or given up. */
  release(rows: readonly NewRow[]): void {
    for (const { projectId } of rows) {
      const project = this.rowsOf(projectId);
      project.held -= 1;
      this.heldInAll -= 1;
      if (project.held === 0) this.projects.delete(projectId);
    }
  }

  private beginSecond(second: number): void {
    if (second === this.second) return;
    for (const project of this.projects.values()) {
      const { errors, others } = project;
      this.release(others.splice(MAX_PER_SECOND - errors.length));
      this.decided.push(...errors, ...others);
      Object.assign(project, { errors: [], others: [] });
    }
    this.second = second;
  }

  private rowsOf(projectId: bigint): ProjectRows {
    return this.projects.get(projectId) ?? { errors: [], others: [], held: 0 };
  }
}

/** A full second still gets its strikes, in place of other refusals: they tell the owner which client to mend. */
function keepStrike(rows: NewRow[], request: CountedRequest): void {
  const at = request.strikeBy === null ? -1 : rows.findLastIndex(isOtherRefusal);
  if (at >= 0) rows[at] = rowOf(request);
}

const isOtherRefusal = ({ strikeBy, outcome }: NewRow) => strikeBy === null && outcome === 'refused';

function rowOf(request: CountedRequest): NewRow {
  const { projectId, keyId, atMs, door, operation, status, code, outcome, durationMs, units } = request;
  return {
    projectId,
    atMs,
    keyId,
    door,
    operation: copied(operation),
    status,
    // REST has the same codes in lower case.
    code: code === null ? null : copied(code.toUpperCase()),
    outcome,
    // A client may take hours to read an answer.
    durationUs: Math.min(Math.round(durationMs * 1_000), INT32_MAX),
    units,
    requestId: request.requestId,
    strikeBy: request.strikeBy && copied(request.strikeBy),
    isDashboardRead: request.isDashboardRead,
  };
}

/** V8's parts of a string keep the whole string in memory: the name of an operation would keep its document of 100 KB. */
const copied = (text: string) => Buffer.from(text).toString();

const secondOf = (atMs: number) => Math.floor(atMs / SECOND_MS);
