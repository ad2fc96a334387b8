import { type BanRecord, type BanStatus, banStatus, isBanned, NO_RECORD } from './bans.js';
import {
  type Allowance,
  dayStanding,
  minuteStanding,
  type Quota,
  quotaOf,
  retryAtMs,
  type Usage,
  type WindowStanding,
} from './windows.js';

/** Both windows and the bans, as they are after the request. Feeds headers, `extensions.rateLimit`, `Query.rateLimit`, log and metrics. */
export interface Standing {
  /** The clock that decided: how many seconds are left until a reset is counted from here, not from the process's own clock. */
  readonly atMs: number;
  readonly minute: WindowStanding;
  /** Null for a quota without a day window. */
  readonly day: WindowStanding | null;
  /** Null without a key: addresses are not banned. */
  readonly ban: BanStatus | null;
  /** Of the allowance that the request was to spend; null = it has none. */
  readonly allowance: AllowanceStanding | null;
}

interface AllowanceStanding extends WindowStanding {
  readonly name: string;
}

export interface Admitted extends Standing {
  readonly admitted: true;
  /** Of the project's data when the request was admitted; null = not known, or being written. See `DataVersions`. */
  readonly dataVersion: string | null;
}

type RefusalCode = 'rate_limited_minute' | 'rate_limited_day' | 'key_banned';

export interface Refused extends Standing {
  readonly admitted: false;
  /** Of the quota or the ban, whatever the allowance says; without either, `rate_limited_minute` of the allowance. */
  readonly code: RefusalCode;
  /** Quota and ban would have admitted the request, its allowance did not. */
  readonly isOfAllowance: boolean;
  /**
   * Whole seconds, at least 1, after which the same request is admitted if nobody else spends meanwhile: the last of the
   * resets of the violated windows, the allowance's included, and the end of the ban. Spec: Limits 2; RFC 9110 §10.2.3.
   */
  readonly retryAfterSeconds: number;
  /** The request costs more than a whole window allows: waiting does not help, making it smaller does. */
  readonly neverFits: boolean;
  /** This refusal was the strike that banned the key: the one moment to audit it. */
  readonly startsBan: boolean;
}

export type Decision = Admitted | Refused;

/** What a limiter knows once it has decided. */
export interface Decided {
  usage: Usage;
  /** Null without a key. */
  record: BanRecord | null;
  quota: Quota;
  cost: number;
  nowMs: number;
  dataVersion: string | null;
  /** With what was spent of it; null = the request has none. */
  allowance: SpentAllowance | null;
}

export interface SpentAllowance extends Allowance {
  readonly usage: Usage;
}

export function admitted({ usage, record, quota, nowMs, dataVersion, allowance }: Decided): Admitted {
  return {
    admitted: true,
    dataVersion,
    atMs: nowMs,
    minute: minuteStanding(usage, quota, 0),
    day: dayStanding(usage, quota, 0),
    ban: statusOf(record, nowMs),
    allowance: allowance && allowanceStanding(allowance, 0),
  };
}

export function refused(decided: Decided, startsBan: boolean): Refused {
  const { usage, record, quota, cost, nowMs, allowance } = decided;
  const minute = minuteStanding(usage, quota, cost);
  const day = dayStanding(usage, quota, cost);
  const banned = cost > 0 && record !== null && isBanned(record, nowMs);
  const quotaFreeAtMs = cost > 0 ? retryAtMs(usage, quota, cost) : 0;
  const allowanceFreeAtMs = allowance ? retryAtMs(allowance.usage, quotaOf(allowance), allowance.cost) : 0;
  const admittedAtMs = Math.max(quotaFreeAtMs, allowanceFreeAtMs, banned ? record.untilMs : 0);
  const isOfDay = quotaFreeAtMs > 0 && day?.isViolated;
  return {
    admitted: false,
    code: banned ? 'key_banned' : isOfDay ? 'rate_limited_day' : 'rate_limited_minute',
    isOfAllowance: !banned && quotaFreeAtMs === 0,
    retryAfterSeconds: Math.max(1, Math.ceil((admittedAtMs - nowMs) / 1000)),
    neverFits: cost > quota.perMinute || (quota.perDay !== null && cost > quota.perDay),
    startsBan,
    atMs: nowMs,
    minute,
    day,
    ban: statusOf(record, nowMs),
    allowance: allowance && allowanceStanding(allowance, allowance.cost),
  };
}

/** What a request that spends nothing sees. */
export function standing({
  usage,
  record,
  quota,
  nowMs,
}: Pick<Decided, 'usage' | 'record' | 'quota' | 'nowMs'>): Standing {
  return {
    atMs: nowMs,
    minute: minuteStanding(usage, quota, 0),
    day: dayStanding(usage, quota, 0),
    ban: statusOf(record, nowMs),
    allowance: null,
  };
}

/**
 * The window that a client which sees only one should see, as in the `X-RateLimit-*` headers. During a ban nothing remains,
 * until its end, or until the windows that are spent as well reset: the moment that `Retry-After` names.
 */
export function shownWindow({ minute, day, ban }: Standing): WindowStanding {
  const window = bindingWindow({ minute, day });
  if (ban === null || ban.untilSeconds === null) return window;
  const isSpent = window.isViolated || window.remaining === 0;
  const resetAtSeconds = Math.max(ban.untilSeconds, isSpent ? window.resetAtSeconds : 0);
  return { ...window, remaining: 0, resetAtSeconds };
}

/**
 * The window that binds: the violated one, the later reset when both are; otherwise the one with less remaining, the day
 * when equal, as it stays so for longer.
 */
export function bindingWindow({ minute, day }: Pick<Standing, 'minute' | 'day'>): WindowStanding {
  if (day === null) return minute;
  if (day.isViolated || minute.isViolated) return day.isViolated ? day : minute;
  return minute.remaining < day.remaining ? minute : day;
}

function allowanceStanding(allowance: SpentAllowance, cost: number): AllowanceStanding {
  return { name: allowance.name, ...minuteStanding(allowance.usage, quotaOf(allowance), cost) };
}

const CLEAN = Object.freeze(banStatus(NO_RECORD, 0));

function statusOf(record: BanRecord | null, nowMs: number): BanStatus | null {
  if (record === null) return null;
  return record === NO_RECORD ? CLEAN : banStatus(record, nowMs);
}
