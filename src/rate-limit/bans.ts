/** Strikes that make a ban. */
export const STRIKES_TO_BAN = 10;
/** How long the first, second, … ban lasts; the last one repeats. */
export const LADDER_MINUTES = [1, 5, 30, 60] as const;
/** Each such time without a strike forgets one step of the ladder and all strikes. */
export const QUIET_MS = 3_600_000;
/** Requests that cross the line together arrive within this time. */
export const BURST_MS = 1_000;

const MINUTE_MS = 60_000;
const LAST_STEP = LADDER_MINUTES.length - 1;

/** What is remembered of a key that was refused. Values, never changed in place. */
export interface BanRecord {
  readonly strikes: number;
  /** Which step of the ladder the next ban takes. */
  readonly step: number;
  /** The last strike, or the end of the ban it led to. */
  readonly quietSinceMs: number;
  /** 0 = not banned. */
  readonly untilMs: number;
  /** The refusal that opened the block, that is the time in which further requests are strikes. */
  readonly refusedAtMs: number;
  /** The end of the block; 0 = no block. */
  readonly retryAtMs: number;
  /** Which connection carried the last refusal; null = not known, or a connection that several requests share. */
  readonly connection: string | null;
}

/** A key's bans as its owner may see them. */
export interface BanStatus {
  readonly strikes: number;
  /** Unix time; null = not banned. */
  readonly untilSeconds: number | null;
  /** How long the next ban would last. */
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
  return nowMs < record.untilMs;
}

/**
 * The record after a request that was refused because it did not fit. Requests during a ban don't come here: they neither
 * count nor extend it.
 *
 * The first refusal opens a block until its Retry-After; requests refused in the block are strikes if their sender can
 * have known. A burst of parallel requests cannot: they were on their way, or waiting in the client's connection pool,
 * before the first 429 arrived. A client that sends on and on, one request after the other, can. What tells them apart is
 * the connection: an HTTP/1.1 connection carries one request at a time, so when two refusals in a row came over the same
 * one, the second request was sent after the first 429; the requests of a burst come over many connections in turn, and
 * that the connection has carried a 429 before proves nothing, because pools queue. So a refusal is a strike
 *   - at once, when the last refusal of the key came over the same connection, or
 *   - from 1 s (`BURST_MS`) after the block was opened, whoever sends it: no burst lasts longer, and a client that opens a
 *     connection per request gains just that second.
 */
export function afterRefusal(
  known: BanRecord,
  refusal: { nowMs: number; retryAtMs: number; connection: string | null },
): BanRecord {
  const { nowMs, retryAtMs, connection } = refusal;
  const record = forgotten(known, nowMs);
  if (nowMs >= record.retryAtMs) return { ...record, refusedAtMs: nowMs, retryAtMs, connection };

  const inSequence = connection !== null && connection === record.connection;
  if (!inSequence && nowMs - record.refusedAtMs <= BURST_MS) return { ...record, connection };

  const strikes = record.strikes + 1;
  if (strikes < STRIKES_TO_BAN) return { ...record, strikes, quietSinceMs: nowMs, connection };
  const untilMs = nowMs + stepMinutes(record.step) * MINUTE_MS;
  return { ...NO_RECORD, step: Math.min(record.step + 1, LAST_STEP), quietSinceMs: untilMs, untilMs };
}

/** The record after an admitted request: who is served again is no longer waiting for a Retry-After. */
export function afterAdmission(record: BanRecord): BanRecord {
  return record.retryAtMs === 0 ? record : { ...record, refusedAtMs: 0, retryAtMs: 0, connection: null };
}

/** The record without what its quiet hours have forgiven. */
export function forgotten(record: BanRecord, nowMs: number): BanRecord {
  const quietHours = Math.floor((nowMs - record.quietSinceMs) / QUIET_MS);
  if (quietHours < 1 || (record.strikes === 0 && record.step === 0)) return record;
  return {
    ...record,
    strikes: 0,
    step: Math.max(0, record.step - quietHours),
    quietSinceMs: record.quietSinceMs + quietHours * QUIET_MS,
  };
}

/** From when on the record says no more than no record. */
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
