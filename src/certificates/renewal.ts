import type { RenewalWindow } from './acme-resources.js';

const DAY_MS = 86_400_000;
/** Certificates that live shorter than this are renewed at half their life. */
const SHORT_LIFETIME_MS = 10 * DAY_MS;
/** So that certificates issued together are not renewed together. */
const JITTER_SHARE = 0.1;

/** A random number from 0 up to, not including, 1. */
export type Random = () => number;

interface Lifetime {
  notBeforeMs: number;
  notAfterMs: number;
}

/**
 * When to renew a certificate about which the CA gives no advice: when a third of its life is left, or half of a short
 * one; up to a tenth of that earlier. A share, because lifetimes shrink: "30 days before" would be never for six days.
 */
export function renewAtMs({ notBeforeMs, notAfterMs }: Lifetime, random: Random): number {
  const lifetimeMs = notAfterMs - notBeforeMs;
  const leftMs = lifetimeMs / (lifetimeMs < SHORT_LIFETIME_MS ? 2 : 3);
  return Math.round(notAfterMs - leftMs * (1 + JITTER_SHARE * random()));
}

/**
 * A random moment of the window that the CA suggests, now when that has passed (RFC 9773 §4.2). Null when the window
 * reaches beyond the certificate's end: advice that would let it run out is none.
 */
export function momentIn(
  { startMs, endMs }: RenewalWindow,
  notAfterMs: number,
  { nowMs, random }: { nowMs: number; random: Random },
): number | null {
  if (endMs >= notAfterMs) return null;
  return Math.max(nowMs, Math.round(startMs + (endMs - startMs) * random()));
}
