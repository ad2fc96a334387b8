const SHARD_ENTRIES = 1_000;

/**
 * A map made of many small maps. A single `Map` stops the process for tens of milliseconds whenever its table grows. A
 * map of a thousand entries grows in microseconds, and can be swept in one step.
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

  /** Deletes the stale entries of one shard. */
  evictExpired(index: number, isStale: (value: V, key: string) => boolean): void {
    const shard = this.shards[index];
    if (!shard) return;
    for (const [key, value] of shard) {
      if (isStale(value, key)) this.delete(key);
    }
  }

  /** Deletes the oldest entry of one shard, taking the shards in turn. Returns false when the map is empty. */
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
