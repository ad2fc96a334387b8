import { DAY_MS } from '../../../ground/kernel/duration.js';
import type { RenewalWindow } from '../acme/acme-resources.js';

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
  return Math.round(notAfterMs - leftMs(notBeforeMs, notAfterMs) * (1 + JITTER_SHARE * random()));
}

interface Plan {
  /** The renewal time so far; null = none. */
  plannedMs: number | null;
  nowMs: number;
  random: Random;
}

/**
 * A random time in the CA's suggested window; now if that has passed (RFC 9773 §4.2). Null = the plan stays: its time is in
 * the window, or the CA suggests a time so late that an outage of two days could let the certificate expire. D-170.
 */
export function momentIn(
  window: RenewalWindow,
  { notBeforeMs, notAfterMs }: Lifetime,
  { plannedMs, nowMs, random }: Plan,
): number | null {
  const { startMs } = window;
  const endMs = Math.min(window.endMs, notAfterMs - leftMs(notBeforeMs, notAfterMs) * (1 - JITTER_SHARE));
  const isPlanned = plannedMs !== null && startMs <= plannedMs && plannedMs <= endMs;
  if (isPlanned || endMs < startMs) return null;
  return Math.max(nowMs, Math.round(startMs + (endMs - startMs) * random()));
}

function leftMs(notBeforeMs: number, notAfterMs: number): number {
  const lifetimeMs = notAfterMs - notBeforeMs;
  return lifetimeMs / (lifetimeMs < SHORT_LIFETIME_MS ? 2 : 3);
}
