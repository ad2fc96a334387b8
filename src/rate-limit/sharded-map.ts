const SHARD_ENTRIES = 1_000;

/**
 * A map made of many small ones. A single `Map` stops the process for tens of milliseconds whenever it outgrows its table;
 * one of a thousand entries does it in microseconds, and can be looked through in one go.
 */
export class ShardedMap<V> {
  readonly shardCount: number;
  private readonly shards: Map<string, V>[];
  // Unknown to clients, so that nobody can choose addresses that all fall into one shard.
  private readonly seed = Math.floor(Math.random() * 2 ** 31);
  private readonly factor = Math.floor(Math.random() * 2 ** 30) * 2 + 1;
  private entries = 0;
  private evictFrom = 0;

  constructor(capacity: number) {
    this.shardCount = 2 ** Math.max(0, Math.ceil(Math.log2(capacity / SHARD_ENTRIES)));
    this.shards = Array.from({ length: this.shardCount }, () => new Map());
  }

  get size(): number {
    return this.entries;
  }

  get(key: string): V | undefined {
    return this.shardOf(key).get(key);
  }

  set(key: string, value: V): void {
    const shard = this.shardOf(key);
    const before = shard.size;
    shard.set(key, value);
    this.entries += shard.size - before;
  }

  delete(key: string): boolean {
    const existed = this.shardOf(key).delete(key);
    if (existed) this.entries -= 1;
    return existed;
  }

  /** Deletes what has gone stale in one shard. */
  sweep(index: number, isStale: (value: V, key: string) => boolean): void {
    const shard = this.shards[index];
    if (!shard) return;
    for (const [key, value] of shard) {
      if (isStale(value, key)) this.delete(key);
    }
  }

  /** Deletes the entry that came first among those of one shard, of the shards in turn. Returns false when there is none. */
  evictOldest(): boolean {
    for (let tried = 0; tried < this.shardCount; tried += 1) {
      const shard = this.shards[this.evictFrom];
      this.evictFrom = (this.evictFrom + 1) % this.shardCount;
      const oldest = shard?.keys().next();
      if (oldest && !oldest.done) return this.delete(oldest.value);
    }
    return false;
  }

  private shardOf(key: string): Map<string, V> {
    let hash = this.seed;
    for (let index = 0; index < key.length; index += 1) {
      hash = Math.imul(hash ^ key.charCodeAt(index), this.factor);
      hash ^= hash >>> 15;
    }
    return this.shards[hash & (this.shardCount - 1)] as Map<string, V>;
  }
}
