const MAX_KEYS = 20_000;

interface RefusedKey {
  planUntilMs: number;
  allowanceUntilMs: number;
}

/**
 * The keys that this process has refused, until their Retry-After. It refuses no request itself: it only says whose
 * documents need the limiter's decision before they are parsed. Bounded: beyond 20,000 keys the oldest is evicted. D-32.
 */
export class RefusedKeys {
  private readonly keys = new Map<bigint, RefusedKey>();

  constructor(private readonly now: () => number) {}

  note(keyId: bigint, by: 'plan' | 'allowance', retryAfterSeconds: number): void {
    const key = this.keys.get(keyId) ?? { planUntilMs: 0, allowanceUntilMs: 0 };
    const untilMs = this.now() + retryAfterSeconds * 1000;
    if (by === 'plan') key.planUntilMs = untilMs;
    else key.allowanceUntilMs = untilMs;
    if (!this.keys.has(keyId) && this.keys.size >= MAX_KEYS) {
      this.keys.delete(this.keys.keys().next().value as bigint);
    }
    this.keys.set(keyId, key);
  }

  /** Called when the plan admits the key again, such as after an upgrade. */
  forgetPlan(keyId: bigint): void {
    const key = this.keys.get(keyId);
    if (key) key.planUntilMs = 0;
  }

  isRefused(keyId: bigint): boolean {
    const key = this.keys.get(keyId);
    if (!key) return false;
    if (this.now() < Math.max(key.planUntilMs, key.allowanceUntilMs)) return true;
    this.keys.delete(keyId);
    return false;
  }

  isRefusedByPlan(keyId: bigint): boolean {
    return this.now() < (this.keys.get(keyId)?.planUntilMs ?? 0);
  }
}
