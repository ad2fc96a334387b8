import { IsNull, LessThanOrEqual, MoreThan } from 'typeorm';
import type { Database } from '../database/database.js';
import { Domain } from './domain.entity.js';

/** Longer than a pause of a living process; a process that died holds a domain no longer than this. */
const LEASE_MS = 15_000;
/** An order for a domain that was removed, in whichever process, ends this soon. */
const HEARTBEAT_MS = 500;
/** A lease that could not be extended is given up so long before another process may take the domain. */
const MARGIN_MS = 3_000;

/**
 * Lets one process at a time order for a domain. A lease has a number; whoever stores a result names it, so that a process
 * that was thought dead and comes back stores nothing.
 */
export class DomainLeases {
  constructor(
    private readonly db: Database,
    private readonly now: () => number,
  ) {}

  /** Null when another process was faster, or nothing is due any more. */
  async take(domain: Domain): Promise<DomainLease | null> {
    const atMs = this.now();
    const leaseNumber = domain.leaseNumber + 1;
    const { affected } = await this.db.write(() =>
      this.table.update(
        {
          id: domain.id,
          leaseNumber: domain.leaseNumber,
          leaseUntilMs: LessThanOrEqual(atMs),
          nextOrderAtMs: LessThanOrEqual(atMs),
          removedAtMs: IsNull(),
        },
        { leaseNumber, leaseUntilMs: atMs + LEASE_MS },
      ),
    );
    return affected === 1 ? new DomainLease(domain.id, leaseNumber, (lease) => this.extend(lease)) : null;
  }

  /** Whether the lease still holds. */
  private async extend({ domainId, number }: DomainLease): Promise<boolean> {
    const { affected } = await this.table.update(
      // Not one that was given back while this was on its way.
      { id: domainId, leaseNumber: number, leaseUntilMs: MoreThan(0), removedAtMs: IsNull() },
      { leaseUntilMs: this.now() + LEASE_MS },
    );
    return affected === 1;
  }

  private get table() {
    return this.db.repository(Domain);
  }
}

/** One process's right to order for one domain, kept up until `end`. */
export class DomainLease {
  private readonly lost = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private heldAtMs = performance.now();
  private isExtending = false;

  constructor(
    readonly domainId: bigint,
    readonly number: number,
    private readonly extend: (lease: DomainLease) => Promise<boolean>,
  ) {
    this.timer = setInterval(() => void this.beat(), HEARTBEAT_MS).unref();
  }

  /** Aborted when another process may hold the domain, or it was removed. */
  get signal(): AbortSignal {
    return this.lost.signal;
  }

  /** Ends the work at once. */
  revoke(reason: string): void {
    this.lost.abort(new Error(reason));
  }

  end(): void {
    clearInterval(this.timer);
  }

  private async beat(): Promise<void> {
    if (this.isExtending) return;
    this.isExtending = true;
    const startedAtMs = performance.now();
    try {
      if (await this.extend(this)) this.heldAtMs = startedAtMs;
      else this.revoke('the domain was removed or taken over');
    } catch {
      // Without the database the lease runs out, and another process goes on.
      if (performance.now() - this.heldAtMs > LEASE_MS - MARGIN_MS) this.revoke('the lease ran out');
    } finally {
      this.isExtending = false;
    }
  }
}
