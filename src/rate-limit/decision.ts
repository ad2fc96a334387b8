import { type BanRecord, type BanStatus, banStatus, isBanned, NO_RECORD } from './bans.js';
import {
  dayStanding,
  minuteStanding,
  type Quota,
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
}

export interface Admitted extends Standing {
  readonly admitted: true;
  /** Of the project's data when the request was admitted; null = not known, or being written. See `DataVersions`. */
  readonly dataVersion: string | null;
}

type RefusalCode = 'rate_limited_minute' | 'rate_limited_day' | 'key_banned';

export interface Refused extends Standing {
  readonly admitted: false;
  readonly code: RefusalCode;
  /**
   * Whole seconds, at least 1, after which the same request is admitted if nobody else spends meanwhile: the last of the
   * resets of the violated windows and the end of the ban. Spec: Limits 2; RFC 9110 §10.2.3.
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
}

export function admitted({ usage, record, quota, nowMs, dataVersion }: Decided): Admitted {
  return {
    admitted: true,
    dataVersion,
    atMs: nowMs,
    minute: minuteStanding(usage, quota, 0),
    day: dayStanding(usage, quota, 0),
    ban: statusOf(record, nowMs),
  };
}

export function refused({ usage, record, quota, cost, nowMs }: Decided, startsBan: boolean): Refused {
  const minute = minuteStanding(usage, quota, cost);
  const day = dayStanding(usage, quota, cost);
  const banned = record !== null && isBanned(record, nowMs);
  const admittedAtMs = Math.max(retryAtMs(usage, quota, cost), banned ? record.untilMs : 0);
  return {
    admitted: false,
    code: banned ? 'key_banned' : day?.isViolated ? 'rate_limited_day' : 'rate_limited_minute',
    retryAfterSeconds: Math.max(1, Math.ceil((admittedAtMs - nowMs) / 1000)),
    neverFits: cost > quota.perMinute || (quota.perDay !== null && cost > quota.perDay),
    startsBan,
    atMs: nowMs,
    minute,
    day,
    ban: statusOf(record, nowMs),
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
  };
}

/**
 * The window that a client which sees only one should see, as in the `X-RateLimit-*` headers: the violated one, the later
 * reset when both are; otherwise the one with less remaining, the day when equal, as it stays so for longer.
 */
export function bindingWindow({ minute, day }: Pick<Standing, 'minute' | 'day'>): WindowStanding {
  if (day === null) return minute;
  if (day.isViolated || minute.isViolated) return day.isViolated ? day : minute;
  return minute.remaining < day.remaining ? minute : day;
}

const CLEAN = Object.freeze(banStatus(NO_RECORD, 0));

function statusOf(record: BanRecord | null, nowMs: number): BanStatus | null {
  if (record === null) return null;
  return record === NO_RECORD ? CLEAN : banStatus(record, nowMs);
}
