import { STRIKES_TO_BAN } from '../../../src/request/rate-limit/rules/bans.js';
import type { Charge, Limiter, Refused } from '../../../src/request/rate-limit/rules/limiter.js';

/** The start of a minute, far from the day's edges: noon of an ordinary day. */
export const NOON_MS = Date.UTC(2026, 4, 4, 12);
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

/** A charge of one unit on a FREE project by its only key, changed by `given`. */
export function charge(given: Partial<Charge> = {}): Charge {
  const quota = { perMinute: 60, perDay: 1_000 };
  return { subject: 'project:1', keyId: '1', quota, cost: 1, ...given };
}

/** The time between two requests of a client that hammers. */
export const HAMMERING_MS = 100;

/** Sends refused requests, ten a second, until one is this strike; the tenth bans. Returns its decision. */
export async function hammer(
  limiter: Pick<Limiter, 'charge'>,
  clock: { now: number },
  request: Charge,
  strike = STRIKES_TO_BAN,
): Promise<Refused> {
  for (let sent = 0; sent < 100; sent += 1) {
    const decision = await limiter.charge(request);
    if (!decision.admitted && (decision.strike === strike || decision.code === 'key_banned')) return decision;
    clock.now += HAMMERING_MS;
  }
  throw new Error('no strike');
}
