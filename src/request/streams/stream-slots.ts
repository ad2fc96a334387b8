import type { RedisConnection } from '../../ground/redis/redis-connection.js';

const LEASE_MS = 30_000;
const ANSWER_MS = 500;

/** The open streams of each project, over all processes. */
export interface StreamSlots {
  /** False = the project already has as many as it may have. */
  take(projectId: bigint, streamId: string, most: number): Promise<boolean>;
  /** Keeps the slots of this process; returns those of its streams that are beyond the number, newest last. */
  renew(projectId: bigint, streamIds: readonly string[], most: number): Promise<string[]>;
  release(projectId: bigint, streamId: string): void;
}

/** Counts the streams of this process. */
export class LocalSlots implements StreamSlots {
  private readonly taken = new Map<bigint, Set<string>>();

  async take(projectId: bigint, streamId: string, most: number): Promise<boolean> {
    const streams = this.taken.get(projectId) ?? new Set();
    if (streams.size >= most) return false;
    this.taken.set(projectId, streams.add(streamId));
    return true;
  }

  async renew(_: bigint, streamIds: readonly string[], most: number): Promise<string[]> {
    return streamIds.slice(most);
  }

  release(projectId: bigint, streamId: string): void {
    const streams = this.taken.get(projectId);
    streams?.delete(streamId);
    if (streams?.size === 0) this.taken.delete(projectId);
  }
}

/**
 * Counts in Redis. A process that dies loses its slots after 30 s. While Redis is unavailable each process counts its own
 * streams.
 */
export class RedisSlots implements StreamSlots {
  private readonly local = new LocalSlots();

  constructor(private readonly redis: Promise<RedisConnection>) {}

  async take(projectId: bigint, streamId: string, most: number): Promise<boolean> {
    if (!(await this.local.take(projectId, streamId, most))) return false;
    const beyond = await this.count(projectId, [streamId], most);
    if (!beyond?.includes(streamId)) return true;
    this.release(projectId, streamId);
    return false;
  }

  async renew(projectId: bigint, streamIds: readonly string[], most: number): Promise<string[]> {
    const beyond = await this.count(projectId, streamIds, most);
    return beyond ?? this.local.renew(projectId, streamIds, most);
  }

  release(projectId: bigint, streamId: string): void {
    this.local.release(projectId, streamId);
    const [opened, leases] = keysOf(projectId);
    const forget = async () => {
      const redis = await this.redis;
      await Promise.all([redis.zrem(opened, streamId), redis.zrem(leases, streamId)]);
    };
    // Otherwise the lease expires.
    forget().catch(() => {});
  }

  /** The streams of these that are beyond the number; null = Redis does not answer. */
  private async count(
    projectId: bigint,
    streamIds: readonly string[],
    most: number,
  ): Promise<string[] | null> {
    const counting = this.redis.then((redis) =>
      redis.eval(SCRIPT, 2, ...keysOf(projectId), LEASE_MS, most, ...streamIds),
    );
    const late = new Promise<null>((resolve) => setTimeout(resolve, ANSWER_MS, null).unref());
    return (await Promise.race([counting, late]).catch(() => null)) as string[] | null;
  }
}

/** Both keys have the same hash slot. */
function keysOf(projectId: bigint): [opened: string, leases: string] {
  const key = `petstore:streams:{${projectId}}`;
  return [key, `${key}:leases`];
}

/** Adds the streams, and returns those of them that came after the first `most` of the project. */
const SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now)) do
  redis.call('ZREM', KEYS[1], id)
  redis.call('ZREM', KEYS[2], id)
end
for at = 3, #ARGV do
  local isNew = redis.call('ZSCORE', KEYS[1], ARGV[at]) == false
  if isNew then redis.call('ZADD', KEYS[1], time[1] * 1000000 + time[2], ARGV[at]) end
  redis.call('ZADD', KEYS[2], now + ARGV[1], ARGV[at])
end
redis.call('PEXPIRE', KEYS[1], ARGV[1] * 2)
redis.call('PEXPIRE', KEYS[2], ARGV[1] * 2)
local beyond = {}
for at = 3, #ARGV do
  if redis.call('ZRANK', KEYS[1], ARGV[at]) >= tonumber(ARGV[2]) then beyond[#beyond + 1] = ARGV[at] end
end
return beyond
`;
