import type { Database } from '../../ground/database/database.js';
import type { DataVersions } from '../../ground/kernel/data-versions.js';
import { connectRedis } from '../../ground/redis/redis-connection.js';
import { CounterStore } from './memory/counter-store.js';
import { MemoryLimiter } from './memory/memory-limiter.js';
import { MemoryVersions } from './memory/memory-versions.js';
import { RedisLimiter } from './redis/redis-limiter.js';
import { ResilientLimiter, SharedVersions } from './redis/resilient-limiter.js';
import type { Limiter, LimiterLog } from './rules/limiter.js';

interface LimiterParts {
  /** Null = this process counts alone, and stores its counters. */
  redisUrl: string | null;
  db: Database;
  log: LimiterLog;
  now: () => number;
}

/** For metrics: the state of counting in Redis. */
interface Sharing {
  /** Redis is unavailable, and this process decides alone. */
  isDegraded: boolean;
  outages: number;
  localDecisions: number;
}

const ALONE: Sharing = { isDegraded: false, outages: 0, localDecisions: 0 };

export interface RunningLimiter {
  limiter: Limiter;
  versions: DataVersions;
  sharing(): Sharing;
  /** Stores the remaining counters. */
  close(): Promise<void>;
}

/** Starts the limiter: without Redis in memory, otherwise shared with the other processes. */
export async function startLimiter({ redisUrl, db, log, now }: LimiterParts): Promise<RunningLimiter> {
  if (redisUrl === null) {
    const versions = new MemoryVersions(now);
    const limiter = new MemoryLimiter(now, undefined, versions);
    const store = new CounterStore(db, limiter, log, now);
    await store.start();
    return { limiter, versions, sharing: () => ALONE, close: () => store.close() };
  }
  const mirror = new MemoryLimiter(now);
  const shared = new RedisLimiter(await connectRedis(redisUrl), { mirror, hasVersions: true });
  const limiter = new ResilientLimiter(shared, mirror, log);
  const sharing = () => ({ isDegraded: limiter.isDegraded, ...limiter.counts });
  return { limiter, versions: new SharedVersions(limiter), sharing, close: () => limiter.close() };
}
