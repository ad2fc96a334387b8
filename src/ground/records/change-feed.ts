import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../kernel/errors.js';
import type { ChangeRow } from './change-log.entity.js';
import type { ChangeLog } from './change-log.js';
import { isNext, isSame, type Position } from './position.js';

const LOOK_EVERY_MS = 300;
/** A lost announcement is noticed after this time. */
const LOOK_ANYWAY_MS = 300_000;
/** Longer than a write can run. */
const WRITE_MS = 15_000;
const READ_ROWS = 500;
/** Of a stream that is behind: it keeps them while its client is slow. */
const OWN_ROWS = 50;
/** Changes in memory for the streams of a project. A stream that is further behind reads the database itself. */
const KEPT_ROWS = 1_000;

/**
 * The live end of the change logs that have streams in this process. However many streams follow a project, each of its
 * changes is read once; an idle stream causes no statement.
 */
export class ChangeFeeds {
  private readonly feeds = new Map<bigint, ChangeFeed>();
  private timer: NodeJS.Timeout | null = null;
  private lookedAtMs = 0;
  private seenInterruptions = -1;
  private isLooking = false;

  constructor(readonly log: ChangeLog) {}

  /** Batches of the project's changes behind the position, until `stop`. Resolves once no later change can be missed. */
  async follow(projectId: bigint, from: Position | null): Promise<FollowedChanges> {
    const feed = this.feeds.get(projectId) ?? this.open(projectId);
    feed.followers += 1;
    const leave = () => {
      feed.followers -= 1;
      if (feed.followers > 0) return;
      feed.close();
      this.feeds.delete(projectId);
      if (this.feeds.size > 0 || !this.timer) return;
      clearInterval(this.timer);
      this.timer = null;
    };
    try {
      await feed.ready;
      // A restored database has an older newest change than the feed.
      const position = from ?? (await this.log.newest(projectId));
      return new FollowedChanges(this.log, feed, position, leave);
    } catch (error) {
      leave();
      throw error;
    }
  }

  private open(projectId: bigint): ChangeFeed {
    const feed = new ChangeFeed(projectId, this.log);
    this.feeds.set(projectId, feed);
    this.timer ??= setInterval(() => void this.lookIfNeeded(), LOOK_EVERY_MS).unref();
    return feed;
  }

  /** Looks for changes that no signal announces. A statement for all projects. */
  private async lookIfNeeded(): Promise<void> {
    const nowMs = performance.now();
    const { isComplete, interruptions } = this.log.signals;
    const hasMissed = !isComplete || interruptions !== this.seenInterruptions;
    const isDue = hasMissed || nowMs - this.lookedAtMs >= LOOK_ANYWAY_MS;
    const due = [...this.feeds.values()].filter((feed) => isDue || feed.isBeingWritten(nowMs));
    if (due.length === 0 || this.isLooking) return;
    this.isLooking = true;
    if (isDue) this.lookedAtMs = nowMs;
    try {
      const newest = await this.log.newestNumbers(due.map(({ projectId }) => projectId));
      for (const feed of due) if (newest.get(feed.projectId) !== feed.position?.number) feed.look();
      if (isComplete) this.seenInterruptions = interruptions;
    } catch {
      // The next look comes soon, and the streams keep their positions.
    } finally {
      this.isLooking = false;
    }
  }
}

/** The newest changes of a project. */
class ChangeFeed {
  followers = 0;
  /** Behind the newest change in memory; null = not known yet. */
  position: Position | null = null;
  readonly ready: Promise<void>;
  private rows: ChangeRow[] = [];
  private looking: Promise<void> | null = null;
  private isStale = false;
  private readonly waiting = new Set<() => void>();
  private writes = 0;
  private lastWriteMs = Number.NEGATIVE_INFINITY;
  private readonly endSignals: () => void;

  constructor(
    readonly projectId: bigint,
    private readonly log: ChangeLog,
  ) {
    this.endSignals = log.signals.listen(projectId, (signal) => {
      if (signal === 'access') return;
      this.writes = Math.max(0, this.writes + (signal === 'writing' ? 1 : -1));
      if (signal === 'writing') this.lastWriteMs = performance.now();
      else this.look();
    });
    this.ready = this.begin();
  }

  private async begin(): Promise<void> {
    this.position = await this.log.newest(this.projectId);
  }

  /** Whether a process has announced a write and not its end: it may have died after the commit. */
  isBeingWritten(nowMs: number): boolean {
    if (this.writes > 0 && nowMs - this.lastWriteMs > WRITE_MS) this.writes = 0;
    return this.writes > 0;
  }

  /** Reads the changes behind those in memory, and wakes the streams. */
  look(): void {
    this.isStale = true;
    this.looking ??= this.readNew().finally(() => {
      this.looking = null;
    });
  }

  /** The changes behind the position, if they are in memory; null = the database has to be asked. */
  after(position: Position): readonly ChangeRow[] | null {
    if (this.position && isSame(position, this.position)) return [];
    const first = this.rows[0];
    const at = first ? position.number + 1 - first.number : -1;
    const next = this.rows[at];
    return next && isNext(position, next) ? this.rows.slice(at) : null;
  }

  /** Resolves at the next change, or at `wake` of the same function. */
  wait(wake: () => void): void {
    this.waiting.add(wake);
  }

  cancel(wake: () => void): void {
    this.waiting.delete(wake);
  }

  close(): void {
    this.endSignals();
  }

  private async readNew(): Promise<void> {
    while (this.isStale) {
      this.isStale = false;
      try {
        await this.ready;
        const rows = await this.log.after(this.projectId, this.position, READ_ROWS);
        if (rows.length === READ_ROWS) this.isStale = true;
        if (rows.length > 0) this.add(rows);
      } catch (error) {
        if (isGone(error)) await this.startAgain().catch(() => {});
        else await sleep(LOOK_EVERY_MS, undefined, { ref: false });
        this.isStale = this.followers > 0;
      }
    }
  }

  private add(rows: ChangeRow[]): void {
    this.rows.push(...rows);
    if (this.rows.length > KEPT_ROWS) this.rows.splice(0, this.rows.length - KEPT_ROWS);
    this.position = rows.at(-1) as ChangeRow;
    this.wakeAll();
  }

  /** After a gap, such as a restored backup, each stream asks the database itself. */
  private async startAgain(): Promise<void> {
    this.position = await this.log.newest(this.projectId);
    this.rows = [];
    this.wakeAll();
  }

  private wakeAll(): void {
    const waiting = [...this.waiting];
    this.waiting.clear();
    for (const wake of waiting) wake();
  }
}

/** A reader of a project's changes. It keeps only its position, so a slow one costs no memory. */
export class FollowedChanges {
  private isStopped = false;
  private wake: () => void = () => {};

  constructor(
    private readonly log: ChangeLog,
    private readonly feed: ChangeFeed,
    public position: Position,
    private readonly leave: () => void,
  ) {}

  /** Ends the iteration. To be called once. */
  stop(): void {
    this.isStopped = true;
    this.feed.cancel(this.wake);
    this.wake();
    this.leave();
  }

  /** The next changes; null = stopped. Rejects with `AppError gone` when the next change is not kept any more. */
  async next(): Promise<readonly ChangeRow[] | null> {
    while (!this.isStopped) {
      const seen = this.feed.position;
      const rows = this.feed.after(this.position) ?? (await this.read());
      if (rows.length > 0) {
        this.position = rows.at(-1) as ChangeRow;
        return rows;
      }
      if (seen === this.feed.position && !this.isStopped) {
        await new Promise<void>((resolve) => {
          this.wake = resolve;
          this.feed.wait(resolve);
        });
      }
    }
    return null;
  }

  /** While the database is unavailable the stream waits. */
  private async read(): Promise<readonly ChangeRow[]> {
    for (;;) {
      try {
        return await this.log.after(this.feed.projectId, this.position, OWN_ROWS);
      } catch (error) {
        if (isGone(error) || this.isStopped) throw error;
        await sleep(LOOK_EVERY_MS, undefined, { ref: false });
      }
    }
  }
}

function isGone(error: unknown): boolean {
  return error instanceof AppError && error.code === 'gone';
}
