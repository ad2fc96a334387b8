import type { DataVersions } from '../data-versions.js';
import type { Database } from '../database/database.js';
import { connectRedis } from '../redis/redis-connection.js';
import { CounterStore } from './counter-store.js';
import type { Limiter, LimiterLog } from './limiter.js';
import { MemoryLimiter } from './memory-limiter.js';
import { MemoryVersions } from './memory-versions.js';
import { RedisLimiter } from './redis-limiter.js';
import { ResilientLimiter } from './resilient-limiter.js';
import { SharedVersions } from './shared-versions.js';

interface LimiterParts {
  /** Null = this process counts by itself, and stores what it counted. */
  redisUrl: string | null;
  db: Database;
  log: LimiterLog;
  now: () => number;
}

/** For metrics: how counting with other processes goes. */
interface Sharing {
  /** It was lost, and this process decides alone. */
  isDegraded: boolean;
  outages: number;
  localDecisions: number;
}

const ALONE: Sharing = { isDegraded: false, outages: 0, localDecisions: 0 };

export interface RunningLimiter {
  limiter: Limiter;
  versions: DataVersions;
  sharing(): Sharing;
  /** Stores what is not stored yet. */
  close(): Promise<void>;
}

/** The limiter of one process without Redis, or of one among several that share it. */
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
