import type { Quota } from '../../../ground/kernel/caller.js';
import { DAY_MS, MINUTE_MS } from '../../../ground/kernel/duration.js';

/** Length of each window in seconds, as in `RateLimit-Policy`. */
export const WINDOW_SECONDS = { minute: MINUTE_MS / 1000, day: DAY_MS / 1000 } as const;

/** A clock that is set back by less stays in the windows it had reached. */
export const SET_BACK_MS = MINUTE_MS;

/** A limit per UTC minute, separate from the plan's quota, such as a key's limit for managing its project. */
export interface Allowance extends Quota {
  /** Unique within the subject. */
  readonly name: string;
  readonly perDay: null;
  /** Whole units, at least 1. */
  readonly cost: number;
}

/**
 * The units that a subject has spent. Windows are aligned to UTC and numbered from 1970, so that all clocks number them
 * alike. D-26.
 */
export interface Usage {
  minute: number;
  minuteUsed: number;
  day: number;
  dayUsed: number;
}

/** A window as a client sees it. */
export interface WindowStanding {
  readonly limit: number;
  /** Never negative, even after the plan was lowered. */
  readonly remaining: number;
  /** Unix time at which the whole limit is free again. */
  readonly resetAtSeconds: number;
  /** The request did not fit into the window. */
  readonly isViolated: boolean;
}

/**
 * Moves the usage, in place, into the current windows, and drops the units of others. A clock set back by less than a minute
 * stays in the windows it had reached: otherwise both sides of a boundary could be spent twice. A clock set back further is
 * trusted, so that a clock that was ahead blocks nobody. D-240.
 */
export function enterWindows(usage: Usage, nowMs: number): void {
  if (!isCurrent(usage.minute, nowMs, MINUTE_MS)) {
    usage.minute = Math.floor(nowMs / MINUTE_MS);
    usage.minuteUsed = 0;
  }
  if (!isCurrent(usage.day, nowMs, DAY_MS)) {
    usage.day = Math.floor(nowMs / DAY_MS);
    usage.dayUsed = 0;
  }
}

function isCurrent(window: number, nowMs: number, lengthMs: number): boolean {
  return window === Math.floor(nowMs / lengthMs) || window === Math.floor((nowMs + SET_BACK_MS) / lengthMs);
}

/** Whether both windows have room for the cost. */
export function fits({ minuteUsed, dayUsed }: Usage, quota: Quota, cost: number): boolean {
  return minuteUsed + cost <= quota.perMinute && (quota.perDay === null || dayUsed + cost <= quota.perDay);
}

/** Spends the cost in both windows, or in neither if it does not fit one of them. Returns whether it was spent. */
export function spend(usage: Usage, quota: Quota, cost: number): boolean {
  if (!fits(usage, quota, cost)) return false;
  usage.minuteUsed += cost;
  usage.dayUsed += cost;
  return true;
}

/**
 * When a refused cost fits, if nobody spends in between: the later reset of the violated windows; 0 when none is
 * violated. A cost above a whole limit never fits. For it this is the time when smaller costs fit, because `Retry-After`
 * can't say "never".
 */
export function retryAtMs(usage: Usage, quota: Quota, cost: number): number {
  if (quota.perDay !== null && usage.dayUsed + cost > quota.perDay) return (usage.day + 1) * DAY_MS;
  return usage.minuteUsed + cost > quota.perMinute ? (usage.minute + 1) * MINUTE_MS : 0;
}

/** The minute as a request of this cost sees it. */
export function minuteStanding({ minute, minuteUsed }: Usage, { perMinute }: Quota, cost: number) {
  return windowStanding(perMinute, minuteUsed, cost, (minute + 1) * WINDOW_SECONDS.minute);
}

/** The day as a request of this cost sees it; null when the quota has no day. */
export function dayStanding({ day, dayUsed }: Usage, { perDay }: Quota, cost: number) {
  return perDay === null ? null : windowStanding(perDay, dayUsed, cost, (day + 1) * WINDOW_SECONDS.day);
}

function windowStanding(limit: number, used: number, cost: number, resetAtSeconds: number): WindowStanding {
  return { limit, remaining: Math.max(0, limit - used), resetAtSeconds, isViolated: used + cost > limit };
}
