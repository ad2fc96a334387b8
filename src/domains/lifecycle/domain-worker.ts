import { In, IsNull, LessThanOrEqual, MoreThan, Not, Or } from 'typeorm';
import type { Database } from '../../ground/database/database.js';
import { MINUTE_MS } from '../../ground/kernel/duration.js';
import { FairSemaphore } from '../../ground/scheduling/fair-semaphore.js';
import { SharedRuns } from '../../ground/scheduling/shared-runs.js';
import { EXCHANGES } from '../dns/ask-server.js';
import { Domain } from '../store/domain.entity.js';
import { HEALTH_CHECK_MS } from './back-off.js';
import type { DomainCheck } from './domain-check.js';
import type { DomainIssuance } from './domain-issuance.js';
import { ended } from './domain-lease.js';

const EVERY_MS = 1_000;
/** The number of due domains in one read. */
const CANDIDATES = 40;
/** Bounds the cost of a domain that is always due again. */
const PAUSE_MS = 20;
/** A project's checks wait for the next minute; 100 domains with four name servers have half of this. */
const MAX_EXCHANGES = 6_000;
/** Separate from `ORDERS`, so that a CA that hangs does not delay DNS checks. */
const CHECKS = { most: 20, mostOfKey: 4 };
/** Slow orders of one project leave slots for other projects. */
const ORDERS = { most: 20, mostOfKey: 6 };
/** When a process dies during a check, another process repeats the check after this time. */
const CHECK_CLAIM_MS = 60_000;

interface WorkerParts {
  db: Database;
  check: DomainCheck;
  /** Null = no CA is configured. */
  issuance: DomainIssuance | null;
}

/** The column with the time when a domain is due. */
type Moment = 'nextCheckAtMs' | 'nextOrderAtMs';

type Work = (domain: Domain) => Promise<void>;

/** Runs the due work for domains: checks with back-off, orders, renewals. Any number of processes can run it at once. */
export class DomainWorker {
  private readonly checks = new FairSemaphore<bigint>(CHECKS);
  private readonly orders = new FairSemaphore<bigint>(ORDERS);
  private readonly running = new Set<Promise<unknown>>();
  private readonly stopping = new AbortController();
  private timer: NodeJS.Timeout | null = null;
  private readonly searches = new SharedRuns(() => this.startDueWork(), PAUSE_MS);

  constructor(
    private readonly parts: WorkerParts,
    private readonly log: { warn(details: object, message: string): void },
    private readonly now: () => number,
  ) {}

  start(): void {
    this.timer = setInterval(() => this.kick(), EVERY_MS).unref();
    this.kick();
  }

  kick(): void {
    if (this.timer !== null) void this.searches.run();
  }

  /** Aborts the work of this process, so that other processes can resume it at once. */
  async stop(): Promise<void> {
    if (this.timer) clearInterval(this.timer);
    this.stopping.abort(new Error('this process is shutting down'));
    await this.searches.run();
    await Promise.all(this.running);
  }

  private async startDueWork(): Promise<void> {
    const { issuance } = this.parts;
    const { signal } = this.stopping;
    if (signal.aborted) return;
    try {
      await this.startDue('nextCheckAtMs', this.checks, (domain) => this.check(domain));
      if (issuance)
        await this.startDue('nextOrderAtMs', this.orders, (domain) => issuance.run(domain, signal));
    } catch (error) {
      this.log.warn({ reason: String(error) }, 'due work of domains could not be read');
    }
  }

  private async check(domain: Domain): Promise<void> {
    const { db, check, issuance } = this.parts;
    const { id, nextCheckAtMs } = domain;
    const isDue = { id, nextCheckAtMs: nextCheckAtMs ?? 0 };
    const postponed = { nextCheckAtMs: this.now() + CHECK_CLAIM_MS };
    const { affected } = await db.write(() => this.table.update(isDue, postponed));
    // Another process was faster.
    if (affected !== 1) return;
    const { signal } = this.stopping;
    const checked = await check.run(domain, signal);
    await issuance?.planRenewal(checked, signal);
  }

  /** Starts due work in free slots, the oldest first. */
  private async startDue(moment: Moment, slots: FairSemaphore<bigint>, work: Work): Promise<void> {
    if (slots.isFull) return;
    for (const domain of await this.due(moment, slots)) {
      const { projectId } = domain;
      if (!slots.hasRoom(projectId)) continue;
      const ended = slots.run(projectId, this.stopping.signal, () => this.run(domain, work));
      this.running.add(ended);
      ended.finally(() => this.running.delete(ended));
      // The due work of projects that are full now may have hidden that of others.
      this.kick();
    }
  }

  /** Skips projects that may start nothing now: their many due domains would hide other projects' domains. */
  private due(moment: Moment, slots: FairSemaphore<bigint>): Promise<Domain[]> {
    const atMs = this.now();
    const isCheck = moment === 'nextCheckAtMs';
    const resting = isCheck ? EXCHANGES.atLeast(MAX_EXCHANGES) : [];
    const isDue = LessThanOrEqual(atMs);
    // Later than any check is planned: by a clock that was ahead. D-240.
    const isTooLate = MoreThan(atMs + HEALTH_CHECK_MS + MINUTE_MS);
    return this.table.find({
      where: {
        [moment]: isCheck ? Or(isDue, isTooLate) : isDue,
        removedAtMs: IsNull(),
        projectId: Not(In([...slots.fullKeys(), ...resting])),
        ...(isCheck ? {} : { leaseUntilMs: ended(atMs) }),
      },
      order: { [moment]: 'ASC' },
      take: CANDIDATES,
    });
  }

  private async run(domain: Domain, work: Work): Promise<void> {
    try {
      await work(domain);
    } catch (error) {
      if (this.stopping.signal.aborted) return;
      this.log.warn({ err: error, domainId: String(domain.id) }, 'the due work of a domain failed');
    } finally {
      // A slot is free.
      this.kick();
    }
  }

  private get table() {
    return this.parts.db.repository(Domain);
  }
}
