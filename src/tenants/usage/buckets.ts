import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../ground/kernel/duration.js';

/** The sizes of the buckets, and how many of each are kept. */
export const BUCKETS = {
  minute: { sizeMs: MINUTE_MS, kept: 120 },
  hour: { sizeMs: HOUR_MS, kept: 48 },
  day: { sizeMs: DAY_MS, kept: 35 },
} as const;
export type Bucket = keyof typeof BUCKETS;
export const BUCKET_NAMES = Object.keys(BUCKETS) as Bucket[];

/** The windows that clients can read: the newest buckets, including the current one. */
export const USAGE_WINDOWS = {
  HOUR: { bucket: 'minute', points: 60 },
  DAY: { bucket: 'hour', points: 24 },
  MONTH: { bucket: 'day', points: 30 },
} as const satisfies Record<string, { bucket: Bucket; points: number }>;
export const MAX_USAGE_POINTS = Math.max(...Object.values(USAGE_WINDOWS).map(({ points }) => points));
export type UsageWindow = keyof typeof USAGE_WINDOWS;

/** The bucket of a time, numbered from 1970. */
export function numberOf(bucket: Bucket, atMs: number): number {
  return Math.floor(atMs / BUCKETS[bucket].sizeMs);
}

/** The number of the oldest bucket that is kept. */
export function oldestKept(bucket: Bucket, nowMs: number): number {
  return numberOf(bucket, nowMs) - BUCKETS[bucket].kept + 1;
}
