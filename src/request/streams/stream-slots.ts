import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisConnection } from '../../ground/redis/redis-connection.js';

const LEASE_MS = 30_000;
const ANSWER_MS = 500;

/** The open streams of each project over all processes, in Redis. A process that dies loses its slots after 30 s. */
export class StreamSlots {
  constructor(private readonly redis: Promise<RedisConnection>) {}

  /**
   * Takes slots for these streams of the process, or keeps them. Returns all streams of the project that came after its
   * first `most`; null = Redis does not answer.
   */
  async keep(projectId: bigint, streamIds: readonly string[], most: number): Promise<string[] | null> {
    const keeping = this.redis.then((redis) =>
      redis.eval(SCRIPT, 2, ...keysOf(projectId), LEASE_MS, most, streamIds.join(' ')),
    );
    const late = sleep(ANSWER_MS, null, { ref: false });
    return (await Promise.race([keeping, late]).catch(() => null)) as string[] | null;
  }

  release(projectId: bigint, streamId: string): void {
    const forget = (redis: RedisConnection) =>
      Promise.all(keysOf(projectId).map((key) => redis.zrem(key, streamId)));
    // Otherwise the lease expires.
    this.redis.then(forget).catch(() => {});
  }
}

/** The streams by the time of their opening, and by the end of their lease. Both keys have the same hash slot. */
function keysOf(projectId: bigint): [opened: string, leases: string] {
  const key = `petstore:streams:{${projectId}}`;
  return [key, `${key}:leases`];
}

const SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
-- A lease that ends later than a new one is from before the clock was set back.
for _, range in ipairs({{'-inf', now}, {now + ARGV[1] + 1, '+inf'}}) do
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], range[1], range[2])) do
    redis.call('ZREM', KEYS[1], id)
    redis.call('ZREM', KEYS[2], id)
  end
end
for id in string.gmatch(ARGV[3], '%S+') do
  redis.call('ZADD', KEYS[1], 'NX', time[1] * 1000000 + time[2], id)
  redis.call('ZADD', KEYS[2], now + ARGV[1], id)
end
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ARGV[1] * 2) end
return redis.call('ZRANGE', KEYS[1], ARGV[2], -1)
`;
