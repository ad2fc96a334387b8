import { type Standing, shownWindow } from '../rate-limit/decision.js';
import { WINDOW_SECONDS, type WindowStanding } from '../rate-limit/windows.js';

/**
 * How much quota is left, for every API response of both doors. The trio of SPEC shows one window: the violated one,
 * otherwise the one with less left; the fields of the IETF draft list both. Spec: Limits 1.
 */
export function rateLimitHeaders(standing: Standing): Record<string, string> {
  const { limit, remaining, resetAtSeconds } = shownWindow(standing);
  const { minute, day, atMs } = standing;
  return {
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String(resetAtSeconds),
    'ratelimit-policy': both(policy('minute', minute), day && policy('day', day)),
    ratelimit: both(left('minute', minute, atMs), day && left('day', day, atMs)),
  };
}

function policy(name: keyof typeof WINDOW_SECONDS, { limit }: WindowStanding): string {
  return `"${name}";q=${limit};w=${WINDOW_SECONDS[name]}`;
}

function left(name: string, { remaining, resetAtSeconds }: WindowStanding, atMs: number): string {
  return `"${name}";r=${remaining};t=${Math.max(0, Math.ceil(resetAtSeconds - atMs / 1000))}`;
}

function both(minute: string, day: string | null): string {
  return day === null ? minute : `${minute}, ${day}`;
}
