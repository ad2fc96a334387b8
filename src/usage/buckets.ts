const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** What is counted together, and for how long the count is kept. */
export const BUCKETS = {
  minute: { sizeMs: MINUTE_MS, kept: 120 },
  day: { sizeMs: DAY_MS, kept: 35 },
} as const;
export type Bucket = keyof typeof BUCKETS;

/** What can be looked at: the newest buckets, the one of this moment included. */
export const USAGE_WINDOWS = {
  HOUR: { bucket: 'minute', points: 60 },
  MONTH: { bucket: 'day', points: 30 },
} as const satisfies Record<string, { bucket: Bucket; points: number }>;
export const MAX_USAGE_POINTS = Math.max(...Object.values(USAGE_WINDOWS).map(({ points }) => points));
export type UsageWindow = keyof typeof USAGE_WINDOWS;

/** The bucket of a moment, numbered from 1970. */
export function numberOf(bucket: Bucket, atMs: number): number {
  return Math.floor(atMs / BUCKETS[bucket].sizeMs);
}

/** The oldest bucket that is kept. */
export function oldestKept(bucket: Bucket, nowMs: number): number {
  return numberOf(bucket, nowMs) - BUCKETS[bucket].kept + 1;
}
