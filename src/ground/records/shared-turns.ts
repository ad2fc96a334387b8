import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisConnection } from '../redis/redis-connection.js';

/** A turn that is waited for in vain is not needed: the database decides. */
const PATIENCE_MS = 1_000;
/** From joining the queue. A process that died in its turn is left out after this time. */
const KEPT_MS = 2_000;
const ASK_EVERY_MS = 10;

// By the clock of Redis, in microseconds. A process that asks again keeps its place.
const JOIN = `local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ${KEPT_MS * 1_000})
redis.call('ZADD', KEYS[1], 'NX', now, ARGV[1])
redis.call('PEXPIRE', KEYS[1], ${KEPT_MS})
return redis.call('ZRANGE', KEYS[1], 0, 0)[1] == ARGV[1] and 1 or 0`;

/**
 * A queue of processes for each project. Only a hint: it keeps nodes of a cluster from doing work that loses at COMMIT, and
 * nothing becomes wrong without it. D-293.
 */
export class SharedTurns {
  private readonly own = randomUUID();

  constructor(private readonly redis: () => Promise<RedisConnection>) {}

  /** Resolves with the function that ends the turn. Without an answer of Redis it resolves at once. Never rejects. */
  async wait(projectId: bigint): Promise<() => void> {
    const key = `petstore:turns:${projectId}`;
    const redis = await this.redis();
    const end = () => void redis.zrem(key, this.own).catch(() => {});
    const isOwn = () => redis.eval(JOIN, 1, key, this.own).catch(() => 1);
    const endMs = performance.now() + PATIENCE_MS;
    while ((await isOwn()) !== 1 && performance.now() < endMs) await sleep(ASK_EVERY_MS);
    return end;
  }
}
