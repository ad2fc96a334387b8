import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../kernel/errors.js';
import { SharedRuns } from '../scheduling/shared-runs.js';
import type { ChangeRow } from './change-log.entity.js';
import type { ChangeLog } from './change-log.js';
import { before, cursorOf, isSame, type Position } from './position.js';

/** With the turn and the statements, a change is noticed within 350 ms. */
const LOOK_EVERY_MS = 280;
/** A lost announcement is noticed after this time. */
const LOOK_ANYWAY_MS = 300_000;
/** Longer than a write can run. */
const WRITE_MS = 15_000;
/** Feeds begin to read at most so often, in turns: the reads of a turn share a statement. D-232. */
const TURN_EVERY_MS = 40;
const READ_ROWS = 500;
/** Of a stream that is behind: it keeps them while its client is slow. */
const OWN_ROWS = 50;
/** Changes in memory for the streams of a project. A stream that is further behind reads the database itself. */
const KEPT_ROWS = 1_000;

/** Returns the change as the reader shows it; null = the reader does not follow it. */
type Select<T> = (row: ChangeRow) => T | null;

/**
 * The live end of the change logs that have streams in this process. However many streams follow a project, each of its
 * changes is read once; an idle stream causes no statement.
 */
export class ChangeFeeds {
  /** All feeds that wait for a turn begin with it. */
  readonly turns = new SharedRuns(async () => {}, TURN_EVERY_MS);
  private readonly feeds = new Map<bigint, ChangeFeed>();
  private timer: NodeJS.Timeout | null = null;
  private lookedAtMs = 0;
  private isLooking = false;

  constructor(readonly log: ChangeLog) {}

  /** The project's changes behind the position, until `stop`; null = from now on. */
  async follow<T>(projectId: bigint, from: Position | null, select: Select<T>): Promise<FollowedChanges<T>> {
    // A restored database has an older newest change than the feed.
    const newest = await this.log.newest(projectId);
    const feed = this.feeds.get(projectId) ?? this.open(projectId, newest);
    return new FollowedChanges(feed, from ?? newest, select);
  }

  private open(projectId: bigint, newest: Position): ChangeFeed {
    const feed = new ChangeFeed(projectId, newest, this, () => this.feeds.delete(projectId));
    this.feeds.set(projectId, feed);
    this.timer ??= setInterval(() => void this.lookIfNeeded(), LOOK_EVERY_MS).unref();
    return feed;
  }

  /** Looks for changes that no signal announces. A statement for all projects. */
  private async lookIfNeeded(): Promise<void> {
    const nowMs = performance.now();
    const isDue =
      this.lookedAtMs < this.log.signals.completeSinceMs || nowMs - this.lookedAtMs >= LOOK_ANYWAY_MS;
    const due = [...this.feeds.values()].filter((feed) => isDue || feed.isBeingWritten(nowMs));
    if (due.length === 0 || this.isLooking) return;
    this.isLooking = true;
    try {
      const counters = await this.log.counters(due.map(({ projectId }) => projectId));
      const newest = new Map(counters.map(({ projectId, number }) => [projectId, number]));
      for (const feed of due) if (newest.get(feed.projectId) !== feed.position.number) feed.look();
      if (isDue) this.lookedAtMs = nowMs;
    } catch {
      // The next look comes soon, and the streams keep their positions.
    } finally {
      this.isLooking = false;
    }
  }
}

/** The newest changes of a project. */
class ChangeFeed {
  readonly followers = new Set<FollowedChanges<unknown>>();
  private rows: ChangeRow[] = [];
  private isStale = false;
  private isReading = false;
  private writes = 0;
  private lastWriteMs = 0;
  private readonly endSignals: () => void;

  constructor(
    readonly projectId: bigint,
    /** Behind the newest change in memory. */
    public position: Position,
    private readonly all: ChangeFeeds,
    private readonly onClose: () => void,
  ) {
    this.endSignals = all.log.signals.listen(projectId, (signal) => {
      if (signal !== 'writing' && signal !== 'written') return;
      this.writes = Math.max(0, this.writes + (signal === 'writing' ? 1 : -1));
      if (signal === 'writing') this.lastWriteMs = performance.now();
      else this.look();
    });
    // The signals since the position was read are missed.
    this.look();
  }

  leave(follower: FollowedChanges<unknown>): void {
    if (!this.followers.delete(follower) || this.followers.size > 0) return;
    this.endSignals();
    this.onClose();
  }

  /** Whether a process has announced a write and not its end: it may have died after the commit. */
  isBeingWritten(nowMs: number): boolean {
    if (nowMs - this.lastWriteMs > WRITE_MS) this.writes = 0;
    return this.writes > 0;
  }

  /** Reads the changes behind those in memory, and wakes the streams. */
  look(): void {
    this.isStale = true;
    if (!this.isReading) void this.readNew();
  }

  /** The changes behind the position, if they are in memory; null = the database has to be asked. */
  after(position: Position): readonly ChangeRow[] | null {
    if (isSame(position, this.position)) return [];
    const at = position.number + 1 - (this.rows[0]?.number ?? 0);
    const next = this.rows[at];
    return next && isSame(position, before(next)) ? this.rows.slice(at) : null;
  }

  /** The next changes, once the database is available. Rejects with `AppError gone`, or at the end of the reader. */
  async read(position: Position, limit: number, isEnded: () => boolean, group?: string) {
    for (;;) {
      try {
        return await this.all.log.after(this.projectId, position, limit, group);
      } catch (error) {
        if (isEnded() || (error instanceof AppError && error.code === 'gone')) throw error;
        await sleep(LOOK_EVERY_MS, undefined, { ref: false });
      }
    }
  }

  private async readNew(): Promise<void> {
    this.isReading = true;
    while (this.isStale) {
      await this.all.turns.run();
      this.isStale = false;
      const seen = this.position;
      try {
        const rows = await this.read(seen, READ_ROWS, () => this.followers.size === 0, 'feeds');
        if (rows.length === READ_ROWS) this.isStale = true;
        this.rows = [...this.rows, ...rows].slice(-KEPT_ROWS);
        this.position = rows.at(-1) ?? seen;
      } catch {
        // After a gap, such as a restored backup, each stream asks the database itself.
        this.rows = [];
        this.position = await this.all.log.newest(this.projectId).catch(() => seen);
        this.isStale = this.followers.size > 0;
      }
      if (this.position !== seen) for (const follower of this.followers) follower.onWake();
    }
    this.isReading = false;
  }
}

/** A reader of a project's changes. It keeps only its position, so a slow one costs no memory. */
export class FollowedChanges<T> {
  /** Called when there may be changes to take. No function waits for it: that would take memory of each idle stream. */
  onWake: () => void = () => {};
  private isStopped = false;

  constructor(
    private readonly feed: ChangeFeed,
    private position: Position,
    private readonly select: Select<T>,
  ) {
    feed.followers.add(this);
  }

  /** Behind everything that was examined. */
  get cursor(): string {
    return cursorOf(this.position);
  }

  stop(): void {
    this.isStopped = true;
    this.feed.leave(this);
  }

  /** The next changes, if there are any. Rejects with `AppError gone` when the next change is not kept any more. */
  async take(): Promise<readonly T[]> {
    const kept = this.feed.after(this.position);
    // In the group of its project: a project with many streams that are behind must not keep the feeds waiting.
    const rows = kept ?? (await this.feed.read(this.position, OWN_ROWS, () => this.isStopped));
    this.position = rows.at(-1) ?? this.position;
    // This reader is behind the feed, so there may be more.
    if (!kept && rows.length > 0) this.onWake();
    return rows.map(this.select).filter((change) => change !== null);
  }
}
