import { setTimeout as sleep } from 'node:timers/promises';
import { Equal, type FindOperator, In, IsNull, MoreThan, Not } from 'typeorm';
import { newestChange } from '../database/change-sequence.entity.js';
import type { Database } from '../database/database.js';
import { AppError } from '../errors.js';
import { INT64_MAX, INT64_MIN } from '../int64.js';
import { Project } from '../projects/project.entity.js';
import { Domain } from './domain.entity.js';
import { HOST_COLUMNS, type Host, type HostRow, HostTable, type PlanRow } from './host-table.js';

/**
 * How old at most what a process knows of the hosts is when it serves by it. A host that was removed this long ago is
 * served by no process any more, reachable or not.
 */
export const KNOWLEDGE_MS = 900;
const POLL_MS = 300;
/** How long a request waits for a database that does not answer. */
const PATIENCE_MS = 2_000;
const RETRY_MS = 100;
const PAGE_ROWS = 5_000;

/** Every attached host name, in memory, following the database. A look-up costs no query. */
export class HostIndex {
  private table = new HostTable();
  private seenChange = -1n;
  private knownAtMs = Number.NEGATIVE_INFINITY;
  private running: Promise<void> | null = null;
  private following: Promise<void> | null = null;
  private waiting: Promise<void> | null = null;
  private timer: NodeJS.Timeout | undefined;
  private readonly listeners: ((gone: readonly Host[]) => void)[] = [];

  constructor(private readonly db: Database) {}

  /** Reads all hosts; with `isPolling` changes are then followed also while nobody asks, until `stop`. */
  async start({ isPolling }: { isPolling: boolean }): Promise<void> {
    await this.sync();
    if (!isPolling) return;
    // Whoever needs to know learns of a failure from `current`.
    this.timer = setInterval(() => void (this.running ?? this.run()).catch(() => {}), POLL_MS).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** Is told of hosts that were served and are not any more: removed, suspended, or another project's. */
  onGone(listener: (gone: readonly Host[]) => void): void {
    this.listeners.push(listener);
  }

  /** The host by what is known, if attached and not suspended; `hostname` in lower case, without a trailing dot. */
  find(hostname: string): Host | null {
    return this.table.find(hostname);
  }

  get size(): number {
    return this.table.size;
  }

  isCurrent(): boolean {
    return performance.now() - this.knownAtMs < KNOWLEDGE_MS;
  }

  /** Resolves when what is known may be served by. Throws `AppError unavailable`: what is too old must not be used. */
  async current(): Promise<void> {
    if (this.isCurrent()) return;
    this.waiting ??= this.becomeCurrent().finally(() => {
      this.waiting = null;
    });
    await this.waiting;
  }

  /** Takes over all that was committed before this call. Throws what the driver throws. */
  sync(): Promise<void> {
    if (!this.running) return this.run();
    // The one that runs may have asked already: another one follows, for all who ask meanwhile.
    this.following ??= this.running
      .catch(() => {})
      .then(() => {
        this.following = null;
        return this.run();
      });
    return this.following;
  }

  private async becomeCurrent(): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS;
    let cause: unknown;
    while (!this.isCurrent()) {
      const leftMs = deadline - performance.now();
      if (leftMs <= 0) {
        const message = 'It is not known at the moment what this host serves. Try again shortly.';
        throw new AppError('unavailable', message, { retryAfterSeconds: 1, cause });
      }
      const failed = await Promise.race([
        (this.running ?? this.run()).then(
          () => false,
          (error) => {
            cause = error;
            return true;
          },
        ),
        sleep(leftMs, false, { ref: false }),
      ]);
      if (failed) await sleep(Math.min(RETRY_MS, leftMs));
    }
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
    // A database that lost its last changes in a failover gives their numbers to others.
    if (this.seenChange < 0n || newest < this.seenChange) await this.load(newest);
    else if (newest > this.seenChange) await this.catchUp(newest);
    this.knownAtMs = startedAtMs;
  }

  /** What changes meanwhile has a number above `newest` and is read again by the next sync. */
  private async load(newest: bigint): Promise<void> {
    const table = new HostTable();
    const attached = { attachedHostname: Not(IsNull()) };
    const order = { id: 'ASC' } as const;
    for (let rows: HostRow[] | null = null; rows === null || rows.length === PAGE_ROWS; ) {
      const where = { ...attached, id: MoreThan(rows?.at(-1)?.id ?? INT64_MIN) };
      rows = await this.db.repository(Domain).find({ select: HOST_COLUMNS, where, order, take: PAGE_ROWS });
      table.put(rows, await this.plans(table.missingProjects(rows)));
    }
    const gone = this.table.notIn(table);
    this.table = table;
    this.seenChange = newest;
    this.tell(gone);
  }

  private async catchUp(newest: bigint): Promise<void> {
    const { table, seenChange } = this;
    let seen = newest;
    const domains = pages(seenChange, (where) =>
      this.db.repository(Domain).find({ ...PAGE, select: HOST_COLUMNS, where }),
    );
    for await (const rows of domains) {
      this.tell(table.put(rows, await this.plans(table.missingProjects(rows))));
      const last = rows.at(-1)?.changeNumber ?? seen;
      if (last > seen) seen = last;
    }
    const projects = pages(seenChange, (where) =>
      this.db.repository(Project).find({ ...PAGE, select: PLAN_COLUMNS, where }),
    );
    for await (const rows of projects) this.tell(table.putPlans(rows));
    // Not the number of a project: its transaction may have changed domains since they were read.
    this.seenChange = seen;
  }

  private async plans(ids: bigint[]): Promise<PlanRow[]> {
    if (ids.length === 0) return [];
    return this.db.repository(Project).find({ select: PLAN_COLUMNS, where: { id: In(ids) } });
  }

  private tell(gone: readonly Host[]): void {
    if (gone.length > 0) for (const listener of this.listeners) listener(gone);
  }
}

const PLAN_COLUMNS = { id: true, plan: true, changeNumber: true } as const;
const PAGE = { take: PAGE_ROWS, order: { changeNumber: 'ASC', id: 'ASC' } } as const;

/** Rows changed after `number`, oldest change first. Rows of one transaction share a number: a page may end between them. */
async function* pages<Row extends { id: bigint; changeNumber: bigint }>(
  number: bigint,
  read: (
    where: [
      { changeNumber: FindOperator<bigint> },
      { changeNumber: FindOperator<bigint>; id: FindOperator<bigint> },
    ],
  ) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  let last = { changeNumber: number, id: INT64_MAX };
  for (let rows: Row[] | null = null; rows === null || rows.length === PAGE_ROWS; ) {
    const { changeNumber, id } = last;
    rows = await read([
      { changeNumber: MoreThan(changeNumber) },
      { changeNumber: Equal(changeNumber), id: MoreThan(id) },
    ]);
    yield rows;
    last = rows.at(-1) ?? last;
  }
}
