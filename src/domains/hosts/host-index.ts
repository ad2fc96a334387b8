import { setTimeout as sleep } from 'node:timers/promises';
import { Equal, type FindOptionsWhere, IsNull, MoreThan } from 'typeorm';
import { newestChange } from '../../ground/database/change-sequence.entity.js';
import type { Database } from '../../ground/database/database.js';
import { AppError } from '../../ground/kernel/errors.js';
import { INT64_MAX } from '../../ground/kernel/int64.js';
import { SharedRuns } from '../../ground/scheduling/shared-runs.js';
import { Domain, SERVED_COLUMNS } from '../store/domain.entity.js';

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

/** An attached host name, with the facts that serving needs. */
export interface Host {
  readonly hostname: string;
  readonly domainId: bigint;
  readonly projectId: bigint;
  /** Whether its DNS ever pointed here. */
  readonly isVerified: boolean;
  readonly certificateId: bigint | null;
  /** 0 = no certificate. */
  readonly certificateEndsAtMs: number;
  /** The redirect for visitors; null = the host serves the project. */
  readonly redirect: { readonly to: string; readonly status: number } | null;
  readonly isPrimary: boolean;
}

/** All hosts that may be served, in memory, about 0.4 KB each, in sync with the database. A lookup costs no query. D-70. */
export class HostIndex {
  private readonly hosts = new Map<string, Host>();
  /** By project. */
  private readonly primaries = new Map<bigint, Host>();
  private seenChange = -1n;
  private knownAtMs = Number.NEGATIVE_INFINITY;
  private readonly reads = new SharedRuns(() => this.follow());
  private timer: NodeJS.Timeout | undefined;
  private readonly listeners: ((gone: readonly Host[]) => void)[] = [];

  constructor(private readonly db: Database) {}

  /** Reads all hosts. With `isPolling` it then polls for changes until `stop`; without, it only syncs on demand. */
  async start({ isPolling }: { isPolling: boolean }): Promise<void> {
    await this.sync();
    if (!isPolling) return;
    // `current` reports a failure to the request that needs the table.
    this.timer = setInterval(() => void this.sync().catch(() => {}), POLL_MS).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** Registers a listener for hosts that are no longer served: removed, suspended, or moved to another project. */
  onGone(listener: (gone: readonly Host[]) => void): void {
    this.listeners.push(listener);
  }

  /** The host, if it is attached and not suspended. `hostname` in lower case, without a trailing dot. */
  findHost(hostname: string): Host | null {
    return this.hosts.get(hostname) ?? null;
  }

  /** The project's primary domain, if it is attached and not suspended. Null while the index is not fresh enough. */
  primaryOf(projectId: bigint): Host | null {
    return (this.isCurrent() && this.primaries.get(projectId)) || null;
  }

  get size(): number {
    return this.hosts.size;
  }

  /** By monotonic time, which no change of the system's clock moves. D-227. */
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
      const followed = this.sync().catch(async (error) => {
        cause = error;
        await sleep(Math.min(RETRY_MS, leftMs));
      });
      await Promise.race([followed, sleep(leftMs, undefined, { ref: false })]);
    }
  }

  /** Reads all changes that were committed before this call. Throws what the driver throws. */
  sync(): Promise<void> {
    return this.reads.run();
  }

  private async follow(): Promise<void> {
    const startedAtMs = performance.now();
    const newest = await newestChange(this.db);
    // A database that lost its last changes in a failover reuses their numbers.
    if (this.seenChange < 0n || newest < this.seenChange) await this.load();
    else if (newest > this.seenChange) {
      for await (const rows of this.changedAfter(this.seenChange)) this.put(rows);
    }
    // A change during the read has a number above `newest`, so the next sync reads it again.
    this.seenChange = newest;
    this.knownAtMs = startedAtMs;
  }

  private async load(): Promise<void> {
    const lost = new Set(this.hosts.keys());
    for await (const rows of this.changedAfter(-1n, { removedAtMs: IsNull() })) {
      this.put(rows);
      for (const { hostname } of rows) lost.delete(hostname);
    }
    this.tell([...lost].flatMap((hostname) => this.replace(hostname, null)));
  }

  private put(rows: readonly HostRow[]): void {
    const gone = rows.flatMap((row) => {
      const host = servedHost(row);
      // Another domain may have the name now: a removed domain deletes only its own entry.
      if (host === null && this.hosts.get(row.hostname)?.domainId !== row.id) return [];
      return this.replace(row.hostname, host);
    });
    this.tell(gone);
  }

  /** Returns the host that is no longer served, if there is one. */
  private replace(hostname: string, host: Host | null): Host[] {
    const before = this.hosts.get(hostname);
    // The next primary domain may be in the index already.
    if (before && this.primaries.get(before.projectId) === before) this.primaries.delete(before.projectId);
    if (host) this.hosts.set(hostname, host);
    else this.hosts.delete(hostname);
    if (host?.isPrimary) this.primaries.set(host.projectId, host);
    return before && before.domainId !== host?.domainId ? [before] : [];
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
    let rows: HostRow[];
    do {
      const { changeNumber, id } = last;
      rows = await this.db.repository(Domain).find({
        select: SERVED_COLUMNS,
        where: [
          { ...which, changeNumber: MoreThan(changeNumber) },
          { ...which, changeNumber: Equal(changeNumber), id: MoreThan(id) },
        ],
        order: { changeNumber: 'ASC', id: 'ASC' },
        take: PAGE_ROWS,
      });
      yield rows;
      last = rows.at(-1) ?? last;
    } while (rows.length === PAGE_ROWS);
  }

  private tell(gone: readonly Host[]): void {
    if (gone.length > 0) for (const listener of this.listeners) listener(gone);
  }
}

type HostRow = Pick<Domain, keyof typeof SERVED_COLUMNS>;

/** Null = the host is not served. */
function servedHost(row: HostRow): Host | null {
  const { removedAtMs, suspendedAtMs } = row;
  const isServed = removedAtMs === null && suspendedAtMs === null;
  if (!isServed) return null;
  return {
    hostname: row.hostname,
    domainId: row.id,
    projectId: row.projectId,
    isVerified: row.verifiedAtMs !== null,
    certificateId: row.certificateId,
    certificateEndsAtMs: row.certificateId === null ? 0 : (row.certificateEndsAtMs ?? 0),
    redirect: row.redirectTo === null ? null : { to: row.redirectTo, status: row.redirectStatus ?? 301 },
    isPrimary: row.isPrimary,
  };
}
