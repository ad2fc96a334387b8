import type { RenewalWindow } from '../acme/acme-resources.js';

const DAY_MS = 86_400_000;
/** Certificates with a shorter lifetime are renewed at half of it. */
const SHORT_LIFETIME_MS = 10 * DAY_MS;
/** Spreads the renewals of certificates that were issued together. */
const JITTER_SHARE = 0.1;

/** Returns a random number from 0 to 1, without 1. */
export type Random = () => number;

interface Lifetime {
  notBeforeMs: number;
  notAfterMs: number;
}

/**
 * The renewal time without advice from the CA: when a third of the lifetime is left (half of a short one), or up to a tenth
 * of that earlier. A share, because lifetimes shrink: a six-day certificate has no "30 days before its end".
 */
export function renewAtMs({ notBeforeMs, notAfterMs }: Lifetime, random: Random): number {
  const lifetimeMs = notAfterMs - notBeforeMs;
  const leftMs = lifetimeMs / (lifetimeMs < SHORT_LIFETIME_MS ? 2 : 3);
  return Math.round(notAfterMs - leftMs * (1 + JITTER_SHARE * random()));
}

/**
 * A random time in the CA's suggested window; now if that has passed (RFC 9773 §4.2). Null when the window extends past
 * the certificate's end, because that advice would let it expire.
 */
export function momentIn(
  { startMs, endMs }: RenewalWindow,
  notAfterMs: number,
  { nowMs, random }: { nowMs: number; random: Random },
): number | null {
  if (endMs >= notAfterMs) return null;
  return Math.max(nowMs, Math.round(startMs + (endMs - startMs) * random()));
}
