import type { EntityManager } from 'typeorm';
import type { Database } from '../database/database.js';
import { tooManyWaiting } from '../database/database-errors.js';

/** More would keep the first ones waiting. */
const MOST_TOGETHER = 32;
/** More could not be written in time. */
const MOST_WAITING = 500;

/** A write within a transaction, which may run more than once. It adds what it changes to `changes`. */
type Work<Change, T> = (manager: EntityManager, changes: Change[]) => Promise<T>;

interface Waiting<Change> {
  readonly work: Work<Change, unknown>;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/**
 * Runs the logged writes of a project in shared transactions. The counter row is locked until the commit, so the project
 * has only one commit at a time. With one write in each, the disk's flushes would limit its writes. D-231.
 */
export class JointWrites<Change> {
  /** Of each project with a running transaction: the writes that wait for its end. */
  private readonly queues = new Map<bigint, Waiting<Change>[]>();

  /** `append` is the last step of a transaction. */
  constructor(
    private readonly db: Database,
    private readonly append: (manager: EntityManager, projectId: bigint, changes: Change[]) => Promise<void>,
  ) {}

  run<T>(projectId: bigint, work: Work<Change, T>): Promise<T> {
    return new Promise<unknown>((resolve, reject) => {
      const write = { work, resolve, reject };
      const queue = this.queues.get(projectId);
      if (queue && queue.length >= MOST_WAITING) reject(tooManyWaiting());
      else if (queue) queue.push(write);
      else void this.runAll(projectId, [write]);
    }) as Promise<T>;
  }

  private async runAll(projectId: bigint, queue: Waiting<Change>[]): Promise<void> {
    this.queues.set(projectId, queue);
    while (queue.length > 0) await this.runTogether(projectId, queue.splice(0, MOST_TOGETHER));
    this.queues.delete(projectId);
  }

  private async runTogether(projectId: bigint, writes: readonly Waiting<Change>[]): Promise<void> {
    try {
      const results = await this.db.transaction(async (manager) => {
        const changes: Change[] = [];
        const done: unknown[] = [];
        for (const { work } of writes) done.push(await work(manager, changes));
        await this.append(manager, projectId, changes);
        return done;
      });
      for (const [at, { resolve }] of writes.entries()) resolve(results[at]);
    } catch (error) {
      // Nothing of them is stored. Alone, only the write that is wrong fails.
      if (writes.length === 1) writes[0]?.reject(error);
      else for (const write of writes) await this.runTogether(projectId, [write]);
    }
  }
}
