const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** How often DNS is looked at while it is not right, by how long it has been waited for. */
const CHECKS: readonly { untilMs: number; everyMs: number }[] = [
  { untilMs: 5 * MINUTE_MS, everyMs: 30 * SECOND_MS },
  { untilMs: 30 * MINUTE_MS, everyMs: 2 * MINUTE_MS },
  { untilMs: 6 * HOUR_MS, everyMs: 10 * MINUTE_MS },
  { untilMs: 7 * DAY_MS, everyMs: HOUR_MS },
];

/** How long to wait after the first, second, … order that failed; the last one repeats. As CAs advise. */
const ORDERS_MS = [MINUTE_MS, 10 * MINUTE_MS, 100 * MINUTE_MS, DAY_MS] as const;

/** SPEC "Custom domains" 9: without a certificate after this time, everything is done anew by itself. */
export const OVERDUE_MS = 30 * MINUTE_MS;
/** A domain that works is looked at this often. */
export const HEALTH_CHECK_MS = 6 * HOUR_MS;
/** Two looks that find DNS led away count as moved when they are this far apart. */
export const DRIFT_MS = 10 * MINUTE_MS;

/** When to look at DNS again; null = not by itself any more. */
export function nextCheckAtMs(waitingSinceMs: number, atMs: number): number | null {
  const step = CHECKS.find(({ untilMs }) => atMs - waitingSinceMs < untilMs);
  return step ? atMs + step.everyMs : null;
}

interface FailedOrder {
  /** Orders that failed in a row, this one included. */
  failures: number;
  /** Before then another order is of no use; null = nobody said so. */
  retryAtMs: number | null;
  /** When DNS became right. */
  verifiedAtMs: number | null;
  /** When the certificate in force ends; null = there is none. */
  certificateEndsAtMs: number | null;
}

/** When to order again after a failure. */
export function nextOrderAtMs(failed: FailedOrder, atMs: number): number {
  const { failures, retryAtMs, verifiedAtMs, certificateEndsAtMs } = failed;
  const delayMs = ORDERS_MS[Math.min(failures, ORDERS_MS.length) - 1] ?? DAY_MS;
  const moments = [atMs + delayMs];
  if (certificateEndsAtMs !== null && certificateEndsAtMs > atMs) {
    // What is left shrinks with every wait, so a certificate of any lifetime gets several attempts before its end.
    moments.push(atMs + Math.max(SECOND_MS, (certificateEndsAtMs - atMs) / 8));
  } else if (verifiedAtMs !== null && verifiedAtMs + OVERDUE_MS > atMs) {
    moments.push(verifiedAtMs + OVERDUE_MS);
  }
  return Math.max(Math.round(Math.min(...moments)), retryAtMs ?? 0);
}
