import { In, IsNull, LessThanOrEqual, Not } from 'typeorm';
import type { Database } from '../database/database.js';
import { Domain } from './domain.entity.js';
import type { DomainStore } from './domain.store.js';
import type { DomainCheck } from './domain-check.js';
import type { DomainIssuance } from './domain-issuance.js';
import type { DomainSuspension } from './domain-suspension.js';
import { ProjectSlots } from './project-slots.js';

const EVERY_MS = 1_000;
/** Of what is due, read at once. */
const CANDIDATES = 40;
const PAUSE_MS = 20;
/** Separate, so that an authority that hangs keeps nobody's DNS from being looked at. */
const CHECKS = { most: 20, mostOfProject: 4 };
/** One owner's names, however long the CA takes over them, leave room for those of others. */
const ORDERS = { most: 20, mostOfProject: 6 };
/** A process that dies while it looks leaves the domain to others after this time. */
const CHECK_CLAIM_MS = 60_000;

interface WorkerParts {
  db: Database;
  store: DomainStore;
  check: DomainCheck;
  /** Null = no CA is configured. */
  issuance: DomainIssuance | null;
  suspension: DomainSuspension;
}

/** When a domain is due. */
type Moment = 'nextCheckAtMs' | 'nextOrderAtMs';

interface WorkerLog {
  warn(details: object, message: string): void;
}

/** Does what is due for domains: checks with back-off, orders, renewals. Any number of processes may do so at once. */
export class DomainWorker {
  private readonly checks = new ProjectSlots(CHECKS);
  private readonly orders = new ProjectSlots(ORDERS);
  private readonly stopping = new AbortController();
  private timer: NodeJS.Timeout | null = null;
  private looking: Promise<void> | null = null;
  private isKicked = false;

  constructor(
    private readonly parts: WorkerParts,
    private readonly log: WorkerLog,
    private readonly now: () => number,
  ) {}

  start(): void {
    this.timer = setInterval(() => this.kick(), EVERY_MS).unref();
    this.kick();
  }

  /** Looks for due work now. */
  kick(): void {
    if (this.timer === null || this.stopping.signal.aborted) return;
    if (this.looking) {
      this.isKicked = true;
      return;
    }
    this.isKicked = false;
    this.looking = this.look()
      .catch((error) => this.log.warn({ reason: String(error) }, 'domains could not be looked after'))
      .finally(() => {
        this.looking = null;
        if (this.isKicked) this.kick();
      });
  }

  /** Ends what runs here, so that other processes can take it up at once. */
  async stop(): Promise<void> {
    if (this.timer) clearInterval(this.timer);
    this.stopping.abort(new Error('this process is shutting down'));
    this.parts.issuance?.stop();
    await this.looking;
    await Promise.all([this.checks.ended(), this.orders.ended()]);
  }

  private async look(): Promise<void> {
    await this.parts.suspension.run();
    await this.startChecks();
    if (this.parts.issuance) await this.startOrders(this.parts.issuance);
  }

  private async startChecks(): Promise<void> {
    const { check, issuance } = this.parts;
    await this.startDue('nextCheckAtMs', this.checks, async (domain) => {
      if (!(await this.claimCheck(domain))) return null;
      return async () => {
        const checked = await check.run(domain, { isAsked: false, signal: this.stopping.signal });
        await issuance?.lookAhead(checked);
      };
    });
  }

  /** Moves the next check on, so that no other process does this one. */
  private async claimCheck({ id, nextCheckAtMs }: Domain): Promise<boolean> {
    const { affected } = await this.parts.db.write(() =>
      this.table.update(
        { id, nextCheckAtMs: nextCheckAtMs ?? 0 },
        { nextCheckAtMs: this.now() + CHECK_CLAIM_MS },
      ),
    );
    return affected === 1;
  }

  private async startOrders(issuance: DomainIssuance): Promise<void> {
    await this.startDue('nextOrderAtMs', this.orders, async (domain) => () => issuance.run(domain));
  }

  /** Starts what is due, the longest due first, as far as there is room. `prepare`: null = another process does it. */
  private async startDue(
    moment: Moment,
    slots: ProjectSlots,
    prepare: (domain: Domain) => Promise<(() => Promise<void>) | null>,
  ): Promise<void> {
    // Whatever is due again at once waits for the next look.
    const started = new Set<bigint>();
    for (let isMore = true; isMore && slots.free > 0; ) {
      const due = await this.due(moment, slots);
      isMore = false;
      for (const domain of due) {
        if (started.has(domain.id) || !slots.hasRoomFor(domain)) continue;
        const work = await prepare(domain);
        if (work === null) continue;
        started.add(domain.id);
        this.inBackground(slots, domain, work);
        isMore = true;
      }
    }
  }

  /** Without those of projects that have no room: however many they are, they hide nobody else's. */
  private due(moment: Moment, slots: ProjectSlots): Promise<Domain[]> {
    const atMs = this.now();
    return this.table.find({
      where: {
        [moment]: LessThanOrEqual(atMs),
        removedAtMs: IsNull(),
        projectId: Not(In(slots.fullProjects())),
        ...(moment === 'nextOrderAtMs' ? { leaseUntilMs: LessThanOrEqual(atMs) } : {}),
      },
      order: { [moment]: 'ASC' },
      take: CANDIDATES,
    });
  }

  private inBackground(slots: ProjectSlots, domain: Domain, work: () => Promise<void>): void {
    slots.start(domain, async () => {
      try {
        await work();
      } catch (error) {
        if (this.stopping.signal.aborted) return;
        this.log.warn({ err: error, domainId: String(domain.id) }, 'a domain could not be looked after');
      } finally {
        // A slot is free, and what was found may be due. Not at once: whatever is due again and again must not fill the day.
        setTimeout(() => this.kick(), PAUSE_MS).unref();
      }
    });
  }

  private get table() {
    return this.parts.db.repository(Domain);
  }
}
