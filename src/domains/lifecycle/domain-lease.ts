import { setMaxListeners } from 'node:events';
import { type FindOperator, IsNull, LessThanOrEqual, MoreThan, Or } from 'typeorm';
import type { Database } from '../../ground/database/database.js';
import { MINUTE_MS } from '../../ground/kernel/duration.js';
import { SharedRuns } from '../../ground/scheduling/shared-runs.js';
import { Domain } from '../store/domain.entity.js';

/** A process's right to order for a domain. */
export interface DomainLease {
  readonly domainId: bigint;
  /** Fencing number: a process that lost its lease during a pause stores nothing, because a newer number exists. D-63. */
  readonly number: number;
  /** Aborted when another process may have the lease, the domain was removed, or this process ends. */
  readonly signal: AbortSignal;
}

/** Longer than any pause of a healthy process. A process that died blocks a domain no longer than this. */
const LEASE_MS = 15_000;
/** When a domain is removed, its order ends within this time, in any process. */
const HEARTBEAT_MS = 500;
/** A lease that can't be extended is given up this long before another process can take the domain. */
const MARGIN_MS = 3_000;

/**
 * Runs `work` under a new lease, which is extended until `work` ends. Does nothing when another process was faster, or no
 * order is due any more.
 */
export async function underLease(
  db: Database,
  { id, leaseNumber }: Domain,
  { now, stopping }: { now: () => number; stopping: AbortSignal },
  work: (lease: DomainLease) => Promise<void>,
): Promise<void> {
  const domains = db.repository(Domain);
  const atMs = now();
  const number = leaseNumber + 1;
  const due = { leaseUntilMs: ended(atMs), nextOrderAtMs: LessThanOrEqual(atMs) };
  const taken = { leaseNumber: number, leaseUntilMs: atMs + LEASE_MS };
  const { affected } = await db.write(() =>
    domains.update({ id, leaseNumber, ...due, removedAtMs: IsNull() }, taken),
  );
  if (affected !== 1) return;

  const lost = new AbortController();
  const revoke = (reason: string) => lost.abort(new Error(reason));
  // `leaseUntilMs` 0 = the lease was given up while this statement was on its way.
  const held = { id, leaseNumber: number, leaseUntilMs: MoreThan(0), removedAtMs: IsNull() };
  let heldAtMs = performance.now();
  const beats = new SharedRuns(async () => {
    const startedAtMs = performance.now();
    try {
      const { affected } = await domains.update(held, { leaseUntilMs: now() + LEASE_MS });
      if (affected === 1) heldAtMs = startedAtMs;
      else revoke('the domain was removed or taken over');
    } catch {
      // Without the database the lease expires, and another process resumes the order.
      if (performance.now() - heldAtMs > LEASE_MS - MARGIN_MS) revoke('the lease ran out');
    }
  });
  const timer = setInterval(() => void beats.run(), HEARTBEAT_MS).unref();
  const stop = () => revoke('this process is shutting down');
  if (stopping.aborted) stop();
  // Each order of the process listens.
  setMaxListeners(0, stopping);
  stopping.addEventListener('abort', stop);
  try {
    await work({ domainId: id, number, signal: lost.signal });
  } finally {
    clearInterval(timer);
    stopping.removeEventListener('abort', stop);
  }
}

/** A lease that no process has. A lease that ends later than a new one would is of a clock that was ahead. D-240. */
export function ended(atMs: number): FindOperator<number> {
  return Or(LessThanOrEqual(atMs), MoreThan(atMs + LEASE_MS + MINUTE_MS));
}
