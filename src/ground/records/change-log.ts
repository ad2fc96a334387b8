import { setTimeout as sleep } from 'node:timers/promises';
import { type EntityManager, In, LessThan, LessThanOrEqual, MoreThan } from 'typeorm';
import { ChangeSequence, isCluster, RESTORED } from '../database/change-sequence.entity.js';
import type { Database } from '../database/database.js';
import { tooManyWaiting, unavailableIfDatabaseAway } from '../database/database-errors.js';
import { insertRows } from '../database/insert-rows.js';
import { deleteInSteps } from '../database/retention.js';
import { ALWAYS, LOG_OPENING_MS, type MayWrite, tookTooLong } from '../kernel/caller.js';
import type { Capability } from '../kernel/capability.js';
import { DAY_MS } from '../kernel/duration.js';
import { AppError } from '../kernel/errors.js';
import { Changes1780000006000 } from '../migrations/1780000006000-changes.js';
import { ChangeLogRow, ChangeRow } from './change-log.entity.js';
import { before, isSame, type Position } from './position.js';
import type { ProjectSignals } from './project-signals.js';

const KEPT_MS = 7 * DAY_MS;
const MOST_CHANGES = 1_000_000;
/** Writes of a transaction. More would keep the first ones waiting. */
const MOST_TOGETHER = 32;
/** More could not be written in time. */
const MOST_WAITING = 500;
/** A node of a cluster that is behind gets so much time. */
const LAG_MS = 2_000;
/** Anybody can invent a cursor: one costs at most eight looks. */
const LOOK_AGAIN_MS = 250;

const NEXT = `SELECT number, at_ms AS atMs, previous_at_ms AS previousAtMs, noun, kind, record, replaced
  FROM changes WHERE project_id = ? AND number > ? ORDER BY number LIMIT ?`;

/** A record before and after a write; null = it did not exist. */
export interface RecordChange<Row> {
  readonly before: Row | null;
  readonly after: Row | null;
}

/** The columns of a change that depend on its noun. */
export type WrittenChange = Pick<ChangeRow, 'noun' | 'kind' | 'record' | 'replaced'>;

/** A write within a transaction, which may run more than once. It adds what it changes to `changes`. */
type Work<T> = (manager: EntityManager, changes: WrittenChange[]) => Promise<T>;

interface WaitingWrite {
  readonly work: Work<unknown>;
  readonly mayWrite: MayWrite;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/**
 * The change logs of projects. The last step of a transaction draws the numbers of its changes from a counter row. The row
 * is locked until the commit, so the numbers have the order of the commits. D-230.
 */
export class ChangeLog implements Capability {
  static readonly schema = { entities: [ChangeLogRow, ChangeRow], migrations: [Changes1780000006000] };
  /** Of each project with a running transaction: the writes that wait for its end. */
  private readonly queues = new Map<bigint, WaitingWrite[]>();

  constructor(
    private readonly db: Database,
    readonly signals: ProjectSignals,
    readonly now: () => number,
  ) {}

  /**
   * Runs a write and logs the changes that it notes. The writes of a project that wait for its counter row share the next
   * transaction: with one write in each, the disk's flushes would limit them. D-231. A write is left out once its request
   * has ended.
   */
  write<T>(projectId: bigint, work: Work<T>, mayWrite = ALWAYS): Promise<T> {
    return this.announcing(
      projectId,
      () =>
        new Promise<unknown>((resolve, reject) => {
          const write = { work, mayWrite, resolve, reject };
          const queue = this.queues.get(projectId);
          if (queue && queue.length >= MOST_WAITING) reject(tooManyWaiting());
          else if (queue) queue.push(write);
          else void this.runAll(projectId, [write]);
        }) as Promise<T>,
    );
  }

  private async runAll(projectId: bigint, queue: WaitingWrite[]): Promise<void> {
    this.queues.set(projectId, queue);
    while (queue.length > 0) {
      const writes = queue.splice(0, MOST_TOGETHER);
      const endTurn = await this.turn(projectId);
      // More writes have come while this process waited for the turn.
      if (endTurn) writes.push(...queue.splice(0, MOST_TOGETHER - writes.length));
      await this.runTogether(projectId, writes);
      endTurn?.();
    }
    this.queues.delete(projectId);
  }

  /** At the nodes of a cluster, transactions that draw from one counter row lose against each other at COMMIT. D-293. */
  private async turn(projectId: bigint): Promise<(() => void) | null> {
    const { manager } = this.db.repository(ChangeSequence);
    const isShared = await isCluster(manager).catch(() => false);
    return isShared ? this.signals.turn(projectId) : null;
  }

  private async runTogether(projectId: bigint, writes: readonly WaitingWrite[]): Promise<void> {
    const run = async (manager: EntityManager) => {
      const changes: WrittenChange[] = [];
      const done = new Map<WaitingWrite, unknown>();
      for (const write of writes) {
        if (write.mayWrite()) done.set(write, await write.work(manager, changes));
      }
      await this.append(manager, projectId, changes);
      // The log's row had to be waited for. Alone, a write whose request has ended meanwhile is left out.
      if ([...done.keys()].some(({ mayWrite }) => !mayWrite())) throw tookTooLong();
      return done;
    };
    try {
      const done = await this.db.transaction(run, () => writes.some(({ mayWrite }) => mayWrite()));
      for (const write of writes) {
        if (done.has(write)) write.resolve(done.get(write));
        else write.reject(tookTooLong());
      }
    } catch (error) {
      // Perhaps they are stored. Run again, they would be done twice. D-238.
      if (writes.length === 1 || unavailableIfDatabaseAway(error))
        for (const { reject } of writes) reject(error);
      // Nothing of them is stored. Alone, only the write that is wrong fails.
      else for (const write of writes) await this.runTogether(projectId, [write]);
    }
  }

  /**
   * Wakes readers after the write. Told before it, too, they look again if this process dies in between. A failed write may
   * still be committed later, so readers are not told its end.
   */
  async announcing<T>(projectId: bigint, write: () => Promise<T>): Promise<T> {
    this.signals.send(projectId, 'writing');
    const result = await write();
    this.signals.send(projectId, 'written');
    return result;
  }

  /** Adds the changes of a transaction as its last step. Does nothing while the log is off. */
  async append(manager: EntityManager, projectId: bigint, changes: readonly WrittenChange[]): Promise<void> {
    if (changes.length === 0) return;
    // A locking read: the transaction may have a snapshot from before the log was switched off.
    const log = await manager.findOne(ChangeLogRow, { where: { projectId }, ...this.db.forUpdate });
    if (!log || log.opensAtMs === null) return;
    const [first, number] = [log.number + 1, log.number + changes.length];
    const atMs = Math.max(log.atMs, this.now());
    await manager.update(ChangeLogRow, { projectId }, { number, atMs });
    const rows = changes.map((change, at) => {
      const previousAtMs = at === 0 ? log.atMs : atMs;
      return { projectId, number: first + at, atMs, previousAtMs, ...change };
    });
    await insertRows(manager, ChangeRow, rows);
  }

  /** The position of the newest change. Throws `AppError conflict` when the project has no log. */
  async newest(projectId: bigint): Promise<Position> {
    const [counter] = await this.counters([projectId]);
    if (!counter) throw new AppError('conflict', 'The change log of this project is off.');
    return counter;
  }

  /** The counter rows of these projects: each is the position of the newest change. */
  counters(projectIds: readonly bigint[]): Promise<ChangeLogRow[]> {
    return this.db.repository(ChangeLogRow).findBy({ projectId: In([...projectIds]) });
  }

  /**
   * The next changes of all nouns, at most `limit`; null begins with the oldest. Throws `AppError gone` unless they directly
   * follow the position, and `unavailable` when a node of a cluster has not got to it within 2 s. Concurrent reads of a group
   * share a statement.
   */
  async after(projectId: bigint, position: Position | null, limit: number, group = String(projectId)) {
    const read = () => this.read(group, [projectId, position?.number ?? 0, limit]);
    let rows = await read();
    // Most reads find changes, because signals cause them.
    const newest = position && rows.length === 0 ? await this.newestFrom(projectId, position) : null;
    // A change may have been committed in between.
    if (position && newest && !isSame(position, newest)) rows = await read();
    const reached = rows[0] ? before(rows[0]) : newest;
    if (position && reached && !isSame(position, reached)) {
      const advice = 'List again, then follow from the changesCursor of that list.';
      throw new AppError('gone', `The change log does not reach back to this cursor. ${advice}`, { advice });
    }
    return rows;
  }

  /** The newest position, once a node of a cluster has got to this one. A position from before a restore is not waited for. */
  private async newestFrom(projectId: bigint, { number, atMs }: Position): Promise<Position> {
    let newest = await this.newest(projectId);
    if (newest.number >= number) return newest;
    const { manager } = this.db.repository(ChangeSequence);
    const restored = await manager.findOneBy(ChangeSequence, { name: RESTORED });
    const isBehind = (await isCluster(manager)) && atMs > Number(restored?.value ?? 0);
    for (const endMs = performance.now() + LAG_MS; isBehind && newest.number < number; ) {
      if (performance.now() > endMs) {
        const message = 'The database has not got to this cursor yet. Try again shortly.';
        throw new AppError('unavailable', message, { retryAfterSeconds: 1 });
      }
      await sleep(LOOK_AGAIN_MS);
      newest = await this.newest(projectId);
    }
    return newest;
  }

  /** Without TypeORM, whose part of it takes longer than the statement: each change is read in each process with streams. */
  private async read(group: string, values: [projectId: bigint, behind: number, limit: number]) {
    const rows = await this.db.read<ChangeRow>(group, NEXT, values);
    const changes = rows.map((row): ChangeRow => {
      const [number, atMs, previousAtMs] = [Number(row.number), Number(row.atMs), Number(row.previousAtMs)];
      return { ...row, projectId: values[0], number, atMs, previousAtMs };
    });
    return changes.sort((one, other) => one.number - other.number);
  }

  /** Deletes changes that are older than seven days, or before the newest million of their project, in small steps. */
  async deleteOldRows(): Promise<void> {
    await deleteInSteps(this.db, ChangeRow, { atMs: LessThan(this.now() - KEPT_MS) }, 'atMs');
    const where = { number: MoreThan(MOST_CHANGES) };
    for (const { projectId, number } of await this.db.repository(ChangeLogRow).find({ where })) {
      const old = { projectId, number: LessThanOrEqual(number - MOST_CHANGES) };
      await deleteInSteps(this.db, ChangeRow, old, 'number');
    }
  }
}

/**
 * Switches a project's log on or off, in a transaction. Cursors of before do not count any more: a number is left out,
 * because nothing was logged meanwhile.
 */
export async function switchLog(manager: EntityManager, projectId: bigint, isOn: boolean, nowMs: number) {
  const log = await manager.findOneBy(ChangeLogRow, { projectId });
  if (((log?.opensAtMs ?? null) !== null) === isOn) return;
  const opensAtMs = isOn ? nowMs + LOG_OPENING_MS : null;
  if (log) await manager.update(ChangeLogRow, { projectId }, { opensAtMs, number: () => 'number + 1' });
  else await manager.insert(ChangeLogRow, { projectId, number: 0, atMs: nowMs, opensAtMs });
}

/** Sets how many streams the project may have open; null = those of its plan, undefined = no change. */
export async function agreeStreams(manager: EntityManager, projectId: bigint, mostStreams?: number | null) {
  if (mostStreams === undefined) return;
  const { affected } = await manager.update(ChangeLogRow, { projectId }, { mostStreams });
  if (affected === 0 && mostStreams !== null) {
    throw new AppError('conflict', 'Streams need the change log: switch it on first, with --changes on.');
  }
}
