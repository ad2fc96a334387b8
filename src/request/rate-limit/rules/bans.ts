import { HOUR_MS, MINUTE_MS } from '../../../ground/kernel/duration.js';
import { afterFurther, type RefusedRequests } from './strikes.js';

/** Number of strikes that cause a ban. */
export const STRIKES_TO_BAN = 10;
/** Length of the first, second, … ban; the last value repeats. */
export const LADDER_MINUTES = [1, 5, 30, 60] as const;
/** Each period of this length without a strike removes one ladder step and all strikes. */
export const QUIET_MS = HOUR_MS;

const LAST_STEP = LADDER_MINUTES.length - 1;
/** A record with a later time was written while the clock was ahead: it means nothing. D-240. */
export const LONGEST_BAN_MS = Math.max(...LADDER_MINUTES) * MINUTE_MS;

/** The ban state of a key. Immutable. */
export interface BanRecord {
  readonly strikes: number;
  /** The ladder step of the next ban. */
  readonly step: number;
  /** The last strike, or the end of the ban that it caused. */
  readonly quietSinceMs: number;
  /** 0 = not banned. */
  readonly untilMs: number;
  /** The refusal that opened the block: the time in which further requests may be strikes. */
  readonly refusedAtMs: number;
  /** The end of the block; 0 = no block. */
  readonly retryAtMs: number;
  /** The refused requests of the block. */
  readonly refused: RefusedRequests;
}

/** A key's ban state as its owner sees it. */
export interface BanStatus {
  readonly strikes: number;
  /** Unix time; null = not banned. */
  readonly untilSeconds: number | null;
  /** Length of the next ban. */
  readonly nextStepMinutes: number;
}

const NONE_REFUSED: RefusedRequests = Object.freeze({ lastAtMs: 0, fast: 0, slow: 0, slowAtMs: 0 });
export const NO_RECORD: BanRecord = Object.freeze({
  strikes: 0,
  step: 0,
  quietSinceMs: 0,
  untilMs: 0,
  refusedAtMs: 0,
  retryAtMs: 0,
  refused: NONE_REFUSED,
});

export function isBanned(record: BanRecord, nowMs: number): boolean {
  return nowMs < record.untilMs && record.untilMs - nowMs <= LONGEST_BAN_MS;
}

/**
 * The record after a request that exceeded the quota, and its strike: which one it is, or null. Requests during a ban do
 * not come here: they neither count nor extend it.
 *
 * The first refusal opens a block that lasts until its Retry-After, or until a request is admitted. `strikes.ts` says which
 * requests of the block are strikes.
 */
export function afterRefusal(
  known: BanRecord,
  { nowMs, retryAtMs }: { nowMs: number; retryAtMs: number },
): { record: BanRecord; strike: number | null } {
  const record = forgotten(known, nowMs);
  const isOpen = record.refusedAtMs <= nowMs && nowMs < record.retryAtMs;
  if (!isOpen) {
    const refused = { ...NONE_REFUSED, lastAtMs: nowMs };
    return { record: { ...record, refusedAtMs: nowMs, retryAtMs, refused }, strike: null };
  }
  const { refused, isStrike } = afterFurther(record.refused, nowMs, nowMs - record.refusedAtMs);
  if (!isStrike) return { record: { ...record, refused }, strike: null };
  const strike = record.strikes + 1;
  if (strike < STRIKES_TO_BAN)
    return { record: { ...record, strikes: strike, quietSinceMs: nowMs, refused }, strike };
  const untilMs = nowMs + stepMinutes(record.step) * MINUTE_MS;
  const step = Math.min(record.step + 1, LAST_STEP);
  return { record: { ...NO_RECORD, step, quietSinceMs: untilMs, untilMs }, strike };
}

/** The record after an admitted request: the client no longer waits for a Retry-After, so the block ends. */
export function afterAdmission(record: BanRecord): BanRecord {
  return record.retryAtMs === 0 ? record : { ...record, refusedAtMs: 0, retryAtMs: 0, refused: NONE_REFUSED };
}

/** The record without the strikes and ladder steps that quiet hours have removed. */
export function forgotten(record: BanRecord, nowMs: number): BanRecord {
  if (record.quietSinceMs - nowMs > LONGEST_BAN_MS) return NO_RECORD;
  const quietHours = Math.floor((nowMs - record.quietSinceMs) / QUIET_MS);
  if (quietHours < 1 || (record.strikes === 0 && record.step === 0)) return record;
  return {
    ...record,
    strikes: 0,
    step: Math.max(0, record.step - quietHours),
    quietSinceMs: record.quietSinceMs + quietHours * QUIET_MS,
  };
}

/** From this time the record means the same as no record. */
export function meaninglessAtMs({ strikes, step, quietSinceMs, untilMs, retryAtMs }: BanRecord): number {
  const quietHours = step > 0 ? step : Math.sign(strikes);
  return Math.max(untilMs, retryAtMs, quietHours > 0 ? quietSinceMs + quietHours * QUIET_MS : 0);
}

export function banStatus(known: BanRecord, nowMs: number): BanStatus {
  const record = forgotten(known, nowMs);
  return {
    strikes: record.strikes,
    untilSeconds: isBanned(record, nowMs) ? Math.ceil(record.untilMs / 1000) : null,
    nextStepMinutes: stepMinutes(record.step),
  };
}

function stepMinutes(step: number): number {
  return LADDER_MINUTES[Math.min(step, LAST_STEP)] ?? LADDER_MINUTES[0];
}
