import { HOUR_MS, MINUTE_MS } from '../../../ground/kernel/duration.js';
/** Number of strikes that cause a ban. */
export const STRIKES_TO_BAN = 10;
/** Length of the first, second, … ban; the last value repeats. */
export const LADDER_MINUTES = [1, 5, 30, 60] as const;
/** Each period of this length without a strike removes one ladder step and all strikes. */
export const QUIET_MS = HOUR_MS;
/** Concurrent requests that exceed the quota together arrive within this time. */
export const BURST_MS = 1_000;

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
  /** The refusal that opened the block: the time in which further requests are strikes. */
  readonly refusedAtMs: number;
  /** The end of the block; 0 = no block. */
  readonly retryAtMs: number;
  /** The connection of the last refusal; null = unknown, or shared by several requests. */
  readonly connection: string | null;
}

/** A key's ban state as its owner sees it. */
export interface BanStatus {
  readonly strikes: number;
  /** Unix time; null = not banned. */
  readonly untilSeconds: number | null;
  /** Length of the next ban. */
  readonly nextStepMinutes: number;
}

export const NO_RECORD: BanRecord = Object.freeze({
  strikes: 0,
  step: 0,
  quietSinceMs: 0,
  untilMs: 0,
  refusedAtMs: 0,
  retryAtMs: 0,
  connection: null,
});

export function isBanned(record: BanRecord, nowMs: number): boolean {
  return nowMs < record.untilMs && record.untilMs - nowMs <= LONGEST_BAN_MS;
}

/**
 * The record after a request that exceeded the quota. Requests during a ban do not come here: they neither count nor
 * extend it.
 *
 * The first refusal opens a block that lasts until its Retry-After. A request refused within the block is a strike if its
 * sender can have seen the 429. The parallel requests of a burst cannot: they were sent, or queued in the client's
 * connection pool, before the first 429 arrived. A client that sends one request after the other can.
 *
 * The connection tells the two apart: an HTTP/1.1 connection carries one request at a time. If two consecutive refusals
 * use the same connection, the second request was sent after the first 429. A burst uses many connections in turn. An
 * older 429 on the connection proves nothing, because pools queue requests. So a refusal is a strike in two cases.
 *   - The key's previous refusal used the same connection.
 *   - The block opened 1 s ago or earlier (`BURST_MS`). The connection does not matter then, because no burst lasts
 *     longer. A client that opens a connection per request gains only that second.
 */
export function afterRefusal(
  known: BanRecord,
  refusal: { nowMs: number; retryAtMs: number; connection: string | null },
): BanRecord {
  const { nowMs, retryAtMs, connection } = refusal;
  const record = forgotten(known, nowMs);
  const isOpen = record.refusedAtMs <= nowMs && nowMs < record.retryAtMs;
  if (!isOpen) return { ...record, refusedAtMs: nowMs, retryAtMs, connection };

  const inSequence = connection !== null && connection === record.connection;
  if (!inSequence && nowMs - record.refusedAtMs <= BURST_MS) return { ...record, connection };

  const strikes = record.strikes + 1;
  if (strikes < STRIKES_TO_BAN) return { ...record, strikes, quietSinceMs: nowMs, connection };
  const untilMs = nowMs + stepMinutes(record.step) * MINUTE_MS;
  return { ...NO_RECORD, step: Math.min(record.step + 1, LAST_STEP), quietSinceMs: untilMs, untilMs };
}

/** The record after an admitted request: the client no longer waits for a Retry-After, so the block ends. */
export function afterAdmission(record: BanRecord): BanRecord {
  return record.retryAtMs === 0 ? record : { ...record, refusedAtMs: 0, retryAtMs: 0, connection: null };
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
