import { LRUCache } from 'lru-cache';

const MAX_KEYS = 20_000;

/**
 * The keys that this process has refused, until their Retry-After. It refuses no request itself: it only says whose
 * documents need the limiter's decision before they are parsed. Bounded: beyond 20,000 keys the oldest is evicted. D-32.
 */
export class RefusedKeys {
  private readonly by: Record<'plan' | 'allowance', LRUCache<bigint, true>>;

  constructor(now: () => number) {
    const keys = () => new LRUCache<bigint, true>({ max: MAX_KEYS, ttlResolution: 0, perf: { now } });
    this.by = { plan: keys(), allowance: keys() };
  }

  note(keyId: bigint, by: 'plan' | 'allowance', retryAfterSeconds: number): void {
    // An entry lives through the last millisecond of its time, and the key is admitted in it.
    this.by[by].set(keyId, true, { ttl: retryAfterSeconds * 1000 - 1 });
  }

  /** Called when the plan admits the key again, such as after an upgrade. */
  forgetPlan(keyId: bigint): void {
    this.by.plan.delete(keyId);
  }

  isRefused(keyId: bigint): boolean {
    return this.isRefusedByPlan(keyId) || this.by.allowance.has(keyId);
  }

  isRefusedByPlan(keyId: bigint): boolean {
    return this.by.plan.has(keyId);
  }
}
