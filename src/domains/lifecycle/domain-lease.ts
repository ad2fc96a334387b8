import { IsNull, LessThanOrEqual, MoreThan } from 'typeorm';
import type { Database } from '../../ground/database/database.js';
import { Domain } from '../store/domain.entity.js';

/** Longer than any pause of a healthy process. A process that died blocks a domain no longer than this. */
const LEASE_MS = 15_000;
/** When a domain is removed, its order ends within this time, in any process. */
const HEARTBEAT_MS = 500;
/** A lease that can't be extended is given up this long before another process can take the domain. */
const MARGIN_MS = 3_000;

/**
 * Lets one process at a time order for a domain. Each lease has a fencing number, and a result is stored only under the
 * newest number: a process that lost its lease during a pause stores nothing. D-63.
 */
export class DomainLeases {
  constructor(
    private readonly db: Database,
    private readonly now: () => number,
  ) {}

  /** Null when another process was faster, or no order is due any more. */
  async acquireLease(domain: Domain): Promise<DomainLease | null> {
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

  /** Extends the lease; false when it is lost. */
  private async extend({ domainId, number }: DomainLease): Promise<boolean> {
    const { affected } = await this.table.update(
      // `leaseUntilMs` 0 = the lease was given up while this statement was on its way.
      { id: domainId, leaseNumber: number, leaseUntilMs: MoreThan(0), removedAtMs: IsNull() },
      { leaseUntilMs: this.now() + LEASE_MS },
    );
    return affected === 1;
  }

  private get table() {
    return this.db.repository(Domain);
  }
}

/** A process's right to order for a domain, extended until `endLease`. */
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

  /** Aborted when another process may have the lease, or the domain was removed. */
  get signal(): AbortSignal {
    return this.lost.signal;
  }

  /** Aborts the work at once. */
  revoke(reason: string): void {
    this.lost.abort(new Error(reason));
  }

  endLease(): void {
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
      // Without the database the lease expires, and another process resumes the order.
      if (performance.now() - this.heldAtMs > LEASE_MS - MARGIN_MS) this.revoke('the lease ran out');
    } finally {
      this.isExtending = false;
    }
  }
}
