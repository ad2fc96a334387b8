import { setTimeout as sleep } from 'node:timers/promises';
import { Equal, type FindOptionsWhere, IsNull, MoreThan, Not } from 'typeorm';
import { newestChange } from '../../ground/database/change-sequence.entity.js';
import type { Database } from '../../ground/database/database.js';
import { AppError } from '../../ground/kernel/errors.js';
import { INT64_MAX } from '../../ground/kernel/int64.js';
import { Domain } from '../store/domain.entity.js';
import { HOST_COLUMNS, type Host, type HostRow, HostTable } from './host-table.js';

/**
 * The maximum age of a host table that a process serves from. After this time no process serves a removed host, even a
 * process that can't be reached.
 */
export const KNOWLEDGE_MS = 900;
const POLL_MS = 300;
/** How long a request waits for a fresh host table while the database does not answer. */
const PATIENCE_MS = 2_000;
const RETRY_MS = 100;
const PAGE_ROWS = 5_000;

/** All attached host names, in memory, kept in sync with the database. A lookup costs no query. D-70. */
export class HostIndex {
  private table = new HostTable();
  private seenChange = -1n;
  private knownAtMs = Number.NEGATIVE_INFINITY;
  private running: Promise<void> | null = null;
  private following: Promise<void> | null = null;
  private timer: NodeJS.Timeout | undefined;
  private readonly listeners: ((gone: readonly Host[]) => void)[] = [];

  constructor(private readonly db: Database) {}

  /** Reads all hosts. With `isPolling` it then polls for changes until `stop`; without, it only syncs on demand. */
  async start({ isPolling }: { isPolling: boolean }): Promise<void> {
    await this.sync();
    if (!isPolling) return;
    // `current` reports a failure to the request that needs the table.
    this.timer = setInterval(() => void (this.running ?? this.run()).catch(() => {}), POLL_MS).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** Registers a listener for hosts that are no longer served: removed, suspended, or moved to another project. */
  onGone(listener: (gone: readonly Host[]) => void): void {
    this.listeners.push(listener);
  }

  /** The host in the current table, if attached and not suspended; `hostname` in lower case, without a trailing dot. */
  findHost(hostname: string): Host | null {
    return this.table.findHost(hostname);
  }

  /** As `HostTable.primaryOf`; null also while the table is not fresh enough to serve from. */
  primaryOf(projectId: bigint): Host | null {
    return this.isCurrent() ? this.table.primaryOf(projectId) : null;
  }

  get size(): number {
    return this.table.size;
  }

  isCurrent(): boolean {
    return performance.now() - this.knownAtMs < KNOWLEDGE_MS;
  }

  /** Resolves once the host table is fresh enough to serve from. Throws `AppError unavailable` when it stays stale. */
  async current(): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS;
    let cause: unknown;
    while (!this.isCurrent()) {
      const leftMs = deadline - performance.now();
      if (leftMs <= 0) {
        const message = 'The gateway cannot look up this host at the moment. Try again shortly.';
        throw new AppError('unavailable', message, { retryAfterSeconds: 1, cause });
      }
      const followed = this.run().catch(async (error) => {
        cause = error;
        await sleep(Math.min(RETRY_MS, leftMs));
      });
      await Promise.race([followed, sleep(leftMs, undefined, { ref: false })]);
    }
  }

  /** Reads all changes that were committed before this call. Throws what the driver throws. */
  sync(): Promise<void> {
    if (!this.running) return this.run();
    // The running sync may have queried already, so all callers in the meantime share one more sync.
    this.following ??= this.running
      .catch(() => {})
      .then(() => {
        this.following = null;
        return this.run();
      });
    return this.following;
  }

  private run(): Promise<void> {
    this.running ??= this.follow().finally(() => {
      this.running = null;
    });
    return this.running;
  }

  private async follow(): Promise<void> {
    const startedAtMs = performance.now();
    const newest = await newestChange(this.db);
    // A database that lost its last changes in a failover reuses their numbers.
    if (this.seenChange < 0n || newest < this.seenChange) await this.load(newest);
    else if (newest > this.seenChange) await this.catchUp(newest);
    this.knownAtMs = startedAtMs;
  }

  private async load(newest: bigint): Promise<void> {
    const table = new HostTable();
    for await (const rows of this.changedAfter(-1n, { attachedHostname: Not(IsNull()) })) table.put(rows);
    const gone = this.table.notIn(table);
    this.table = table;
    // A change during the load has a number above `newest`, so the next sync reads it again.
    this.seenChange = newest;
    this.tell(gone);
  }

  private async catchUp(newest: bigint): Promise<void> {
    for await (const rows of this.changedAfter(this.seenChange)) this.tell(this.table.put(rows));
    this.seenChange = newest;
  }

  /**
   * Pages of the rows changed after `number`, oldest change first. A page can end between rows of one transaction, which
   * share a number.
   */
  private async *changedAfter(
    number: bigint,
    which: FindOptionsWhere<Domain> = {},
  ): AsyncGenerator<HostRow[]> {
    let last = { changeNumber: number, id: INT64_MAX };
    for (let rows: HostRow[] | null = null; rows === null || rows.length === PAGE_ROWS; ) {
      const { changeNumber, id } = last;
      rows = await this.db.repository(Domain).find({
        select: HOST_COLUMNS,
        where: [
          { ...which, changeNumber: MoreThan(changeNumber) },
          { ...which, changeNumber: Equal(changeNumber), id: MoreThan(id) },
        ],
        order: { changeNumber: 'ASC', id: 'ASC' },
        take: PAGE_ROWS,
      });
      yield rows;
      last = rows.at(-1) ?? last;
    }
  }

  private tell(gone: readonly Host[]): void {
    if (gone.length > 0) for (const listener of this.listeners) listener(gone);
  }
}
