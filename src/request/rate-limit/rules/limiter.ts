import type { Quota } from '../../../ground/kernel/caller.js';
import { type BanRecord, type BanStatus, banStatus, isBanned, STRIKES_TO_BAN } from './bans.js';
import {
  type Allowance,
  dayStanding,
  minuteStanding,
  retryAtMs,
  type Usage,
  type WindowStanding,
} from './windows.js';

/** The counted subject, the key that can be banned, and the quota. */
export interface Account {
  /** The project or address whose units are counted, made by `subjects.ts`. */
  subject: string;
  /** The key that can be banned; null for a request without a valid key. */
  keyId: string | null;
  /** The current quota: a changed plan arrives here within a second. */
  quota: Quota;
}

export interface Charge extends Account {
  /** Whole units of the quota. 0 = neither the quota nor a ban refuses the request. */
  cost: number;
  /**
   * Charged in the same step, for a request with a key: if the quota or the allowance refuses, neither is spent. A
   * refusal by the allowance is no strike.
   */
  allowance?: Allowance | undefined;
  /** The noun whose data version the decision shall have; it has none for a request that also spends an allowance. */
  dataOf?: string | null | undefined;
}

/**
 * Decides whether requests are within their quota. One process counts in memory, several count in Redis. It never throws
 * and never waits for long: a process that can't reach the shared counters decides alone.
 */
export interface Limiter {
  /**
   * Decides and spends in one atomic step. Synchronous when decided in memory, so that the hot path allocates no promise:
   * `const answer = limiter.charge(…); const decision = answer instanceof Promise ? await answer : answer`.
   */
  charge(request: Charge): Decision | Promise<Decision>;
  /** Reads the remaining quota without charging and without strikes: for `GET /v1/rate_limit` and `Query.rateLimit`. */
  peek(account: Account): Standing | Promise<Standing>;
}

/** The bans of a serving process. Both methods throw `AppError unavailable` when Redis does not respond. */
export interface ServedBans {
  isBanned(key: { subject: string; keyId: string }): Promise<boolean>;
  /** Ends the ban for all processes, and forgets strikes and ladder steps. */
  lift(key: { subject: string; keyId: string }): Promise<void>;
}

export interface LimiterLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/**
 * Both windows and the ban state after the request. Used for headers, `extensions.rateLimit`, `Query.rateLimit`, log and
 * metrics.
 */
export interface Standing {
  /** The clock of the decision. Seconds until a reset are counted from here, not from the process's own clock. */
  readonly atMs: number;
  readonly minute: WindowStanding;
  /** Null for a quota without a day window. */
  readonly day: WindowStanding | null;
  /** Null without a key: addresses are not banned. */
  readonly ban: BanStatus | null;
  /** The allowance that the request was to spend; null = it has none. */
  readonly allowance: (WindowStanding & { readonly name: string }) | null;
}

export interface Admitted extends Standing {
  readonly admitted: true;
  /** The version of the data that the charge names, at admission; null = none, or being written. See `DataVersions`. */
  readonly dataVersion: string | null;
}

export interface Refused extends Standing {
  readonly admitted: false;
  /** The code of the quota or the ban, regardless of the allowance; `rate_limited_minute` if only the allowance refused. */
  readonly code: 'rate_limited_minute' | 'rate_limited_day' | 'key_banned';
  /** Only the allowance refused the request; the quota and the ban would have admitted it. */
  readonly isOfAllowance: boolean;
  /**
   * Whole seconds, at least 1, after which the same request is admitted if nobody else spends in between. It is the
   * latest of the end of the ban and the resets of the violated windows, the allowance's included. Spec: Limits 2; RFC
   * 9110 §10.2.3.
   */
  readonly retryAfterSeconds: number;
  /** The request costs more than a whole window allows: it must become smaller, waiting does not help. */
  readonly neverFits: boolean;
  /** Which strike of the key this refusal is; null = it is none. */
  readonly strike: number | null;
  /** This refusal banned the key: the only one to audit. */
  readonly startsBan: boolean;
}

export type Decision = Admitted | Refused;

/** The facts that a decision is built from. */
export interface Decided {
  usage: Usage;
  /** Null without a key. */
  record: BanRecord | null;
  quota: Quota;
  cost: number;
  nowMs: number;
  dataVersion: string | null;
  /** With its spent units; null = the request has none. */
  allowance: SpentAllowance | null;
}

export interface SpentAllowance extends Allowance {
  readonly usage: Usage;
}

export function admitted(decided: Decided): Admitted {
  return { admitted: true, dataVersion: decided.dataVersion, ...standing(decided) };
}

export function refused(decided: Decided, strike: number | null): Refused {
  const { usage, record, quota, cost, nowMs, allowance } = decided;
  const seen = standing(decided, true);
  const banned = cost > 0 && record !== null && isBanned(record, nowMs);
  const quotaFreeAtMs = cost > 0 ? retryAtMs(usage, quota, cost) : 0;
  const allowanceFreeAtMs = allowance ? retryAtMs(allowance.usage, allowance, allowance.cost) : 0;
  const admittedAtMs = Math.max(quotaFreeAtMs, allowanceFreeAtMs, banned ? record.untilMs : 0);
  const isOfDay = quotaFreeAtMs > 0 && seen.day?.isViolated;
  return {
    admitted: false,
    code: banned ? 'key_banned' : isOfDay ? 'rate_limited_day' : 'rate_limited_minute',
    isOfAllowance: !banned && quotaFreeAtMs === 0,
    retryAfterSeconds: Math.max(1, Math.ceil((admittedAtMs - nowMs) / 1000)),
    neverFits: cost > quota.perMinute || (quota.perDay !== null && cost > quota.perDay),
    strike,
    startsBan: strike === STRIKES_TO_BAN,
    ...seen,
  };
}

/** The standing that a request sees. `isViolated` counts its cost only if it was refused. */
export function standing(
  { usage, record, quota, cost, nowMs, allowance }: Omit<Decided, 'dataVersion'>,
  isRefused = false,
): Standing {
  const wanted = isRefused ? cost : 0;
  return {
    atMs: nowMs,
    minute: minuteStanding(usage, quota, wanted),
    day: dayStanding(usage, quota, wanted),
    ban: record && banStatus(record, nowMs),
    allowance: allowance && {
      name: allowance.name,
      ...minuteStanding(allowance.usage, allowance, isRefused ? allowance.cost : 0),
    },
  };
}

/**
 * The window for clients that see only one, as in the `X-RateLimit-*` headers. During a ban nothing remains until the ban
 * ends, or until the spent windows reset if that is later: the time that `Retry-After` gives.
 */
export function shownWindow({ minute, day, ban }: Standing): WindowStanding {
  const window = bindingWindow({ minute, day });
  if (ban === null || ban.untilSeconds === null) return window;
  const isSpent = window.isViolated || window.remaining === 0;
  const resetAtSeconds = Math.max(ban.untilSeconds, isSpent ? window.resetAtSeconds : 0);
  return { ...window, remaining: 0, resetAtSeconds };
}

/**
 * The window that limits most: the violated one, with the later reset if both are violated; otherwise the one with less
 * remaining. If equal, it is the day, which stays so for longer.
 */
export function bindingWindow({ minute, day }: Pick<Standing, 'minute' | 'day'>): WindowStanding {
  if (day === null) return minute;
  if (day.isViolated || minute.isViolated) return day.isViolated ? day : minute;
  return minute.remaining < day.remaining ? minute : day;
}
