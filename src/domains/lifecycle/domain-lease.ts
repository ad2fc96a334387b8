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
 * A process's right to order for a domain, extended until `endLease`. Each lease has a fencing number, and a result is stored
 * only under the newest number: a process that lost its lease during a pause stores nothing. D-63.
 */
export class DomainLease {
  private readonly lost = new AbortController();
  /** Aborted when another process may have the lease, or the domain was removed. */
  readonly signal = this.lost.signal;
  private readonly timer = setInterval(() => void this.beat(), HEARTBEAT_MS).unref();
  private heldAtMs = performance.now();
  private isExtending = false;

  private constructor(
    readonly domainId: bigint,
    readonly number: number,
    /** False = the lease is lost. */
    private readonly extend: () => Promise<boolean>,
  ) {}

  /** Null when another process was faster, or no order is due any more. */
  static async acquire(
    db: Database,
    { id, leaseNumber }: Domain,
    now: () => number,
  ): Promise<DomainLease | null> {
    const domains = db.repository(Domain);
    const atMs = now();
    const due = { leaseUntilMs: LessThanOrEqual(atMs), nextOrderAtMs: LessThanOrEqual(atMs) };
    const taken = { leaseNumber: leaseNumber + 1, leaseUntilMs: atMs + LEASE_MS };
    const { affected } = await db.write(() =>
      domains.update({ id, leaseNumber, ...due, removedAtMs: IsNull() }, taken),
    );
    if (affected !== 1) return null;
    return new DomainLease(id, taken.leaseNumber, async () => {
      // `leaseUntilMs` 0 = the lease was given up while this statement was on its way.
      const held = { id, leaseNumber: taken.leaseNumber, leaseUntilMs: MoreThan(0), removedAtMs: IsNull() };
      return (await domains.update(held, { leaseUntilMs: now() + LEASE_MS })).affected === 1;
    });
  }

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
      if (await this.extend()) this.heldAtMs = startedAtMs;
      else this.revoke('the domain was removed or taken over');
    } catch {
      // Without the database the lease expires, and another process resumes the order.
      if (performance.now() - this.heldAtMs > LEASE_MS - MARGIN_MS) this.revoke('the lease ran out');
    } finally {
      this.isExtending = false;
    }
  }
}
