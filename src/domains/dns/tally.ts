import { LRUCache } from 'lru-cache';

const MAX_KEYS = 10_000;

/** Counts by key within a window of time, which begins with the first count. */
export class Tally<Key extends NonNullable<unknown>> {
  private readonly counts: LRUCache<Key, { count: number }>;

  constructor(windowMs: number, monotonicNow = () => performance.now()) {
    this.counts = new LRUCache({
      max: MAX_KEYS,
      ttl: windowMs,
      ttlResolution: 0,
      perf: { now: monotonicNow },
    });
  }

  add(key: Key): number {
    const known = this.counts.get(key);
    if (!known) this.counts.set(key, { count: 1 });
    else known.count += 1;
    return known?.count ?? 1;
  }

  of(key: Key): number {
    return this.counts.get(key)?.count ?? 0;
  }

  atLeast(count: number): Key[] {
    return [...this.counts.entries()].flatMap(([key, known]) => (known.count >= count ? [key] : []));
  }

  /** Until the count of the key begins again at zero. */
  leftMs(key: Key): number {
    return this.counts.getRemainingTTL(key);
  }
}
