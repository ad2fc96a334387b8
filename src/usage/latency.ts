/** The upper end of the first bucket. */
const FIRST_MS = 0.1;
/** The ratio of two neighbours is 2^(1/4), 1.19. */
const BUCKETS_PER_DOUBLING = 4;
/** The last bucket ends at 5.5 s: by then each request has its answer. */
const LAST_BUCKET = 63;

export interface Latency {
  /** In milliseconds, at most 10 % from the exact value; null = no requests. */
  p50Ms: number | null;
  p95Ms: number | null;
}

/** The number of the bucket that a duration counts in. */
export function latencyBucket(durationMs: number): number {
  if (!(durationMs > FIRST_MS)) return 0;
  return Math.min(Math.ceil(Math.log2(durationMs / FIRST_MS) * BUCKETS_PER_DOUBLING), LAST_BUCKET);
}

/** The percentiles of requests counted by bucket. */
export function latencyOf(requests: ReadonlyMap<number, number>): Latency {
  const buckets = [...requests].sort(([a], [b]) => a - b);
  const total = buckets.reduce((sum, [, count]) => sum + count, 0);
  const percentile = (share: number): number | null => {
    let passed = 0;
    const found = buckets.find(([, count]) => {
      passed += count;
      return passed >= total * share;
    });
    return found ? middleMs(found[0]) : null;
  };
  return { p50Ms: percentile(0.5), p95Ms: percentile(0.95) };
}

/** The geometric middle of a bucket, to three digits. */
function middleMs(bucket: number): number {
  const middle = bucket === 0 ? FIRST_MS : FIRST_MS * 2 ** ((bucket - 0.5) / BUCKETS_PER_DOUBLING);
  return Number(middle.toPrecision(3));
}
