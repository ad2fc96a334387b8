import type { Charge } from '../../../src/request/rate-limit/rules/limiter.js';

/** The start of a minute, far from the day's edges: noon of an ordinary day. */
export const NOON_MS = Date.UTC(2026, 4, 4, 12);
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

/** A charge of one unit on a FREE project by its only key over its only connection, changed by `given`. */
export function charge(given: Partial<Charge> = {}): Charge {
  const quota = { perMinute: 60, perDay: 1_000 };
  return { subject: 'project:1', keyId: '1', quota, cost: 1, connection: 'c1', ...given };
}
