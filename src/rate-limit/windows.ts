const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** How long each window is, as `RateLimit-Policy` says it. */
export const WINDOW_SECONDS = { minute: MINUTE_MS / 1000, day: DAY_MS / 1000 } as const;

/** Units a plan allows per UTC minute and UTC day; `perDay` null = no day window, as for addresses. Spec: Limits. */
export interface Quota {
  readonly perMinute: number;
  readonly perDay: number | null;
}

/** A limit of the UTC minute beside the plan's quota, such as that of a key for managing its project. */
export interface Allowance {
  /** Unique within the subject, made by `subjects.ts`. */
  readonly name: string;
  readonly perMinute: number;
  /** Whole units, at least 1. */
  readonly cost: number;
}

/** The allowance as a quota, which has no day. */
export function quotaOf({ perMinute }: Allowance): Quota {
  return { perMinute, perDay: null };
}

/** What a subject has spent. Windows are aligned to UTC and numbered from 1970, so that any two clocks name them alike. */
export interface Usage {
  minute: number;
  minuteUsed: number;
  day: number;
  dayUsed: number;
}

/** One window as a client may see it. */
export interface WindowStanding {
  readonly limit: number;
  /** Never negative, whatever a lowered plan has left behind. */
  readonly remaining: number;
  /** Unix time, at which the whole limit is free again. */
  readonly resetAtSeconds: number;
  /** The request did not fit into it. */
  readonly isViolated: boolean;
}

/**
 * Moves the usage, in place, into the windows of this moment; those it leaves are forgotten.
 * A clock that is set back by less than a window stays in the window it had reached: else both sides of the edge could be
 * spent twice. One that is set back further is believed, so that a clock once wrong by a year blocks nobody for a year.
 */
export function enterWindows(usage: Usage, nowMs: number): void {
  const minute = Math.floor(nowMs / MINUTE_MS);
  if (usage.minute !== minute && usage.minute !== minute + 1) {
    usage.minute = minute;
    usage.minuteUsed = 0;
  }
  const day = Math.floor(nowMs / DAY_MS);
  if (usage.day !== day && usage.day !== day + 1) {
    usage.day = day;
    usage.dayUsed = 0;
  }
}

/** Whether both windows have room for the cost. */
export function fits({ minuteUsed, dayUsed }: Usage, quota: Quota, cost: number): boolean {
  return minuteUsed + cost <= quota.perMinute && (quota.perDay === null || dayUsed + cost <= quota.perDay);
}

/** Spends the cost in both windows, or, when it does not fit into one of them, in none. Returns whether it was spent. */
export function spend(usage: Usage, quota: Quota, cost: number): boolean {
  if (!fits(usage, quota, cost)) return false;
  usage.minuteUsed += cost;
  usage.dayUsed += cost;
  return true;
}

/**
 * When a refused cost fits, if nobody spends meanwhile: the later reset of the windows it violates, 0 when it violates
 * none. A cost above a whole limit never fits; for it this is when the window is free for smaller ones, since a
 * `Retry-After` has no way to say "never".
 */
export function retryAtMs(usage: Usage, quota: Quota, cost: number): number {
  if (quota.perDay !== null && usage.dayUsed + cost > quota.perDay) return (usage.day + 1) * DAY_MS;
  return usage.minuteUsed + cost > quota.perMinute ? (usage.minute + 1) * MINUTE_MS : 0;
}

/** The minute as seen by a request of this cost. */
export function minuteStanding(usage: Usage, quota: Quota, cost: number): WindowStanding {
  return {
    limit: quota.perMinute,
    remaining: Math.max(0, quota.perMinute - usage.minuteUsed),
    resetAtSeconds: (usage.minute + 1) * WINDOW_SECONDS.minute,
    isViolated: usage.minuteUsed + cost > quota.perMinute,
  };
}

/** The day as seen by a request of this cost; null when the quota has no day. */
export function dayStanding(usage: Usage, quota: Quota, cost: number): WindowStanding | null {
  if (quota.perDay === null) return null;
  return {
    limit: quota.perDay,
    remaining: Math.max(0, quota.perDay - usage.dayUsed),
    resetAtSeconds: (usage.day + 1) * WINDOW_SECONDS.day,
    isViolated: usage.dayUsed + cost > quota.perDay,
  };
}
