import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../ground/kernel/duration.js';
import type { Domain } from '../store/domain.entity.js';

/** The interval between DNS checks while DNS is wrong. It grows with the time since the wait began. */
const CHECKS: readonly { untilMs: number; everyMs: number }[] = [
  { untilMs: 5 * MINUTE_MS, everyMs: 30 * SECOND_MS },
  { untilMs: 30 * MINUTE_MS, everyMs: 2 * MINUTE_MS },
  { untilMs: 6 * HOUR_MS, everyMs: 10 * MINUTE_MS },
  { untilMs: 7 * DAY_MS, everyMs: HOUR_MS },
];

/** The delay after the first, second, … failed order; the last delay repeats. CAs advise these steps. */
const ORDERS_MS = [MINUTE_MS, 10 * MINUTE_MS, 100 * MINUTE_MS, DAY_MS] as const;

/** SPEC "Custom domains" 9: without a certificate after this time, all steps are repeated automatically. */
export const OVERDUE_MS = 30 * MINUTE_MS;
/** The interval between DNS checks of a domain that works. */
export const HEALTH_CHECK_MS = 6 * HOUR_MS;
/** DNS counts as moved when two failed checks are at least this far apart. */
export const DRIFT_MS = 10 * MINUTE_MS;

/** The time of the next DNS check; null = no more automatic checks. */
export function nextCheckAtMs(waitingSinceMs: number, atMs: number): number | null {
  const step = CHECKS.find(({ untilMs }) => atMs - waitingSinceMs < untilMs);
  return step ? atMs + step.everyMs : null;
}

interface FailedOrder extends Pick<Domain, 'verifiedAtMs' | 'certificateEndsAtMs'> {
  /** Consecutive failed orders, including this one. */
  failures: number;
  /** An order before this time can't succeed, as the CA says; null = no known time. */
  retryAtMs: number | null;
}

export function nextOrderAtMs(failed: FailedOrder, atMs: number): number {
  const { failures, retryAtMs, verifiedAtMs, certificateEndsAtMs } = failed;
  const delayMs = ORDERS_MS[Math.min(failures, ORDERS_MS.length) - 1] ?? DAY_MS;
  const moments = [atMs + delayMs];
  let earliestMs = retryAtMs ?? 0;
  if (certificateEndsAtMs !== null && certificateEndsAtMs > atMs) {
    const leftMs = certificateEndsAtMs - atMs;
    // An eighth of the remaining lifetime: a certificate of any lifetime gets several attempts before its end.
    moments.push(atMs + Math.max(SECOND_MS, leftMs / 8));
    // A wrong Retry-After must not let the certificate expire.
    earliestMs = Math.min(earliestMs, atMs + leftMs / 2);
  } else if (verifiedAtMs !== null && verifiedAtMs + OVERDUE_MS > atMs) {
    moments.push(verifiedAtMs + OVERDUE_MS);
  }
  return Math.round(Math.max(Math.min(...moments), earliestMs));
}
