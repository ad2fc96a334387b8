import { PLAN_NAMES, type Plan } from '../../tenants/projects/plans.js';

/** The plan of a refused request; `unknown` = without a key, or with a key that this process does not remember. */
export type ShedPlan = Plan | 'unknown';
export const SHED_PLANS: readonly ShedPlan[] = [...PLAN_NAMES, 'unknown'];

/** Tells that requests were refused: at most once a second, and at the end of an overload with `limit` null. */
export type OnShed = (shed: Partial<Record<ShedPlan, number>>, limit: number | null) => void;

const REPORT_MS = 1_000;

/** Counts refused requests for the limit, the metrics and the log: a log line for each would cost more than the refusal. */
export class ShedCounts {
  private inWindow = 0;
  private unreported: Partial<Record<ShedPlan, number>> = {};
  private reportedAtMs = Number.NEGATIVE_INFINITY;
  private isOverloaded = false;

  constructor(private readonly onShed: OnShed) {}

  add(plan: Plan | null): void {
    const name = plan ?? 'unknown';
    this.inWindow += 1;
    this.unreported[name] = (this.unreported[name] ?? 0) + 1;
  }

  /** The refusals since the last call. */
  takeWindow(): number {
    const taken = this.inWindow;
    this.inWindow = 0;
    return taken;
  }

  report(nowMs: number, limit: number): void {
    const hasEnded = this.isOverloaded && !Number.isFinite(limit);
    this.isOverloaded = Number.isFinite(limit);
    const isDue = this.hasUnreported() && nowMs - this.reportedAtMs >= REPORT_MS;
    if (!hasEnded && !isDue) return;
    this.onShed(this.unreported, hasEnded ? null : limit);
    this.unreported = {};
    this.reportedAtMs = nowMs;
  }

  private hasUnreported(): boolean {
    return Object.keys(this.unreported).length > 0;
  }
}
