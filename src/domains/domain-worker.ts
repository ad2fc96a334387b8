import { IsNull, LessThanOrEqual } from 'typeorm';
import type { Database } from '../database/database.js';
import { Domain } from './domain.entity.js';
import type { DomainStore } from './domain.store.js';
import type { DomainCheck } from './domain-check.js';
import type { DomainIssuance } from './domain-issuance.js';
import type { DomainSuspension } from './domain-suspension.js';

const EVERY_MS = 1_000;
const PAUSE_MS = 20;
/** Separate, so that an authority that hangs keeps nobody's DNS from being looked at. */
const MAX_CHECKS = 20;
const MAX_ORDERS = 20;
/** One owner's names, however long the CA takes over them, leave room for those of others. */
const MAX_ORDERS_OF_PROJECT = 6;
const CANDIDATES = 200;
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

interface WorkerLog {
  warn(details: object, message: string): void;
}

/** Does what is due for domains: checks with back-off, orders, renewals. Any number of processes may do so at once. */
export class DomainWorker {
  private readonly checks = new Map<bigint, Promise<void>>();
  private readonly orders = new Map<bigint, Promise<void>>();
  private readonly ordersOf = new Map<bigint, number>();
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
    await Promise.all([...this.checks.values(), ...this.orders.values()]);
  }

  private async look(): Promise<void> {
    await this.parts.suspension.run();
    await this.startChecks();
    if (this.parts.issuance) await this.startOrders(this.parts.issuance);
  }

  private async startChecks(): Promise<void> {
    const { check } = this.parts;
    const due = await this.due('nextCheckAtMs', MAX_CHECKS - this.checks.size);
    for (const domain of due) {
      if (!(await this.claimCheck(domain))) continue;
      this.inBackground(this.checks, domain.id, async () => {
        const checked = await check.run(domain, { isAsked: false, signal: this.stopping.signal });
        await this.parts.store.prune([domain.id]);
        await this.parts.issuance?.lookAhead(checked);
      });
    }
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
    if (this.orders.size >= MAX_ORDERS) return;
    for (const domain of await this.due('nextOrderAtMs', CANDIDATES)) {
      if (this.orders.size >= MAX_ORDERS) return;
      const { id, projectId } = domain;
      const ofProject = this.ordersOf.get(projectId) ?? 0;
      if (this.orders.has(id) || ofProject >= MAX_ORDERS_OF_PROJECT) continue;
      this.ordersOf.set(projectId, ofProject + 1);
      this.inBackground(this.orders, id, () =>
        issuance.run(domain).finally(() => {
          const left = (this.ordersOf.get(projectId) ?? 1) - 1;
          if (left === 0) this.ordersOf.delete(projectId);
          else this.ordersOf.set(projectId, left);
        }),
      );
    }
  }

  private due(moment: 'nextCheckAtMs' | 'nextOrderAtMs', count: number): Promise<Domain[]> {
    if (count <= 0) return Promise.resolve([]);
    const atMs = this.now();
    return this.table.find({
      where: {
        [moment]: LessThanOrEqual(atMs),
        removedAtMs: IsNull(),
        ...(moment === 'nextOrderAtMs' ? { leaseUntilMs: LessThanOrEqual(atMs) } : {}),
      },
      order: { [moment]: 'ASC' },
      take: count,
    });
  }

  private inBackground(running: Map<bigint, Promise<void>>, id: bigint, work: () => Promise<unknown>): void {
    const ended = work().then(
      () => {},
      (error) => {
        if (this.stopping.signal.aborted) return;
        this.log.warn({ err: error, domainId: String(id) }, 'a domain could not be looked after');
      },
    );
    const settled = ended.then(() => {
      running.delete(id);
      // A slot is free, and what was found may be due. Not at once: whatever is due again and again must not fill the day.
      setTimeout(() => this.kick(), PAUSE_MS).unref();
    });
    running.set(id, settled);
  }

  private get table() {
    return this.parts.db.repository(Domain);
  }
}
