import type { Database } from '../../ground/database/database.js';
import type { Chore, Reading } from '../../ground/kernel/capability.js';
import { SECOND_MS } from '../../ground/kernel/duration.js';
import { connectRedis } from '../../ground/redis/redis-connection.js';
import { bansInMemory, bansInRedis } from './key-bans.js';
import { CounterStore } from './memory/counter-store.js';
import { MemoryLimiter } from './memory/memory-limiter.js';
import { MemoryVersions } from './memory/memory-versions.js';
import { RedisLimiter } from './redis/redis-limiter.js';
import { ResilientLimiter, SharedVersions } from './redis/resilient-limiter.js';
import type { LimiterLog } from './rules/limiter.js';

interface LimiterParts {
  /** Null = this process counts alone, and stores its counters. */
  redisUrl: string | null;
  db: Database;
  log: LimiterLog;
  now: () => number;
}

/** For metrics: the state of counting in Redis. */
type Sharing = Pick<ResilientLimiter, 'isDegraded' | 'counts'>;

const ALONE: Sharing = { isDegraded: false, counts: { outages: 0, localDecisions: 0 } };

/** Starts the limiter: without Redis in memory, otherwise shared with the other processes. */
export async function startLimiter({ redisUrl, db, log, now }: LimiterParts) {
  if (redisUrl === null) {
    const versions = new MemoryVersions(now);
    const limiter = new MemoryLimiter(now, undefined, versions);
    const store = new CounterStore(db, limiter, now);
    await store.restore();
    return {
      limiter,
      bans: bansInMemory(db, limiter, now),
      versions,
      sharing: ALONE,
      chores: [storing(() => store.flush())],
      readings: readingsOf(ALONE),
      close: async () => {},
    };
  }
  const mirror = new MemoryLimiter(now);
  const shared = new RedisLimiter(await connectRedis(redisUrl), { mirror });
  const limiter = new ResilientLimiter(shared, mirror, log);
  const versions = new SharedVersions(limiter);
  return {
    limiter,
    bans: bansInRedis(shared, mirror, now),
    versions,
    sharing: limiter,
    // Redis keeps them.
    chores: [storing(async () => {})],
    readings: readingsOf(limiter),
    close: () => limiter.close(),
  };
}

/** A restart of a process that counts alone forgets the counters that were not stored yet. */
function storing(work: () => Promise<void>): Chore {
  return { name: 'storing rate counters', everyMs: 2 * SECOND_MS, work };
}

function readingsOf(sharing: Sharing): readonly Reading[] {
  return [
    [
      'rate_limit_degraded',
      '1 while Redis is unavailable and this process limits alone.',
      () => Number(sharing.isDegraded),
    ],
    ['rate_limit_outages_total', 'Outages of Redis.', () => sharing.counts.outages],
    [
      'rate_limit_local_decisions_total',
      'Requests decided without Redis.',
      () => sharing.counts.localDecisions,
    ],
  ];
}
