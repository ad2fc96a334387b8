import type { Database } from '../../ground/database/database.js';
import { AppError } from '../../ground/kernel/errors.js';
import { connectRedis, placeOf } from '../../ground/redis/redis-connection.js';
import { liftStoredBan, storedBans } from './memory/counter-store.js';
import { banName, type MemoryLimiter } from './memory/memory-limiter.js';
import { RedisLimiter, SharedCountersAway } from './redis/redis-limiter.js';
import { type BanRecord, type BanStatus, banStatus } from './rules/bans.js';
import type { ServedBans } from './rules/limiter.js';

/** Where the serving processes keep bans: in Redis, or without Redis in the database (write-behind). */
export interface BanStorage {
  redisUrl: string | null;
  db: Database;
}

/**
 * The bans of a subject's keys, for a process that does not serve. A key without a record has no entry. Without Redis, a
 * ban appears up to two seconds late. Throws `AppError unavailable` when Redis does not respond.
 */
export async function readBans(
  { redisUrl, db }: BanStorage,
  { subject, keyIds }: { subject: string; keyIds: readonly string[] },
  nowMs: number,
): Promise<Map<string, BanStatus>> {
  if (keyIds.length === 0) return new Map();
  const records =
    redisUrl === null
      ? await storedBans(db, keyIds)
      : await onRedis(redisUrl, (shared) => shared.bans(subject, keyIds));
  return new Map([...records].map(([keyId, record]) => [keyId, banStatus(record, nowMs)]));
}

/**
 * Lifts a key's ban from a process that does not serve. The serving processes apply it within two seconds. Throws as
 * `readBans`.
 */
export async function liftBan(
  { redisUrl, db }: BanStorage,
  key: { subject: string; keyId: string },
): Promise<void> {
  if (redisUrl === null) return liftStoredBan(db, key.keyId);
  await onRedis(redisUrl, (shared) => shared.unban(key));
}

/** A lifted ban is stored before it is applied, so that a crash does not bring it back. */
export function bansInMemory(db: Database, limiter: MemoryLimiter, now: () => number): ServedBans {
  return {
    isBanned: async ({ keyId }) => isBannedBy(limiter.valueNamed(banName(keyId)) as BanRecord | null, now()),
    async lift({ keyId }) {
      await liftStoredBan(db, keyId);
      limiter.unban({ keyId });
    },
  };
}

/** While Redis is away, a ban is not lifted: Redis would bring it back. */
export function bansInRedis(shared: RedisLimiter, mirror: MemoryLimiter, now: () => number): ServedBans {
  return {
    async isBanned({ subject, keyId }) {
      const bans = await shared.bans(subject, [keyId]).catch(refuseWithoutRedis);
      return isBannedBy(bans.get(keyId) ?? null, now());
    },
    async lift(key) {
      await shared.unban(key).catch(refuseWithoutRedis);
      mirror.unban(key);
    },
  };
}

function isBannedBy(record: BanRecord | null, nowMs: number): boolean {
  return record !== null && banStatus(record, nowMs).untilSeconds !== null;
}

function refuseWithoutRedis(cause: unknown): never {
  throw new AppError('unavailable', 'Bans cannot be read or lifted at the moment. Try again shortly.', {
    cause,
  });
}

async function onRedis<T>(redisUrl: string, work: (shared: RedisLimiter) => Promise<T>): Promise<T> {
  const shared = new RedisLimiter(await connectRedis(redisUrl));
  try {
    return await work(shared);
  } catch (error) {
    if (!(error instanceof SharedCountersAway)) throw error;
    throw new AppError(
      'unavailable',
      `Redis at ${placeOf(redisUrl)}: ${error.message}. Try \`petstore doctor\`.`,
    );
  } finally {
    await shared.close();
  }
}
