export const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** The log of a project has its last 10,000 requests of the last 48 hours. */
export const MAX_LOGGED = 10_000;
export const KEPT_MS = 48 * HOUR_MS;
/** Of all processes together. */
export const MAX_PER_SECOND = 50;

/** Numbered from 1970. */
export function secondOf(atMs: number): number {
  return Math.floor(atMs / SECOND_MS);
}

/** Numbered from 1970. */
export function minuteOf(atMs: number): number {
  return Math.floor(atMs / MINUTE_MS);
}
