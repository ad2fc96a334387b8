import { RedisLimiter } from '../../src/rate-limit/redis-limiter.js';
import { connectRedis } from '../../src/redis/redis-connection.js';

/**
 * One of several processes that share Redis: answers each order with how many of its concurrent charges were admitted,
 * with -1 when Redis did not answer in time, which on a busy machine is nobody's fault.
 */
export interface ChargeOrder {
  subject: string;
  requests: number;
  perMinute: number;
}

const limiter = new RedisLimiter(await connectRedis(process.argv[2] ?? ''));

process.on('message', async ({ subject, requests, perMinute }: ChargeOrder) => {
  const quota = { perMinute, perDay: 1_000_000 };
  const charge = { subject, keyId: 'key', quota, cost: 1, connection: null };
  const decisions = Promise.all(Array.from({ length: requests }, () => limiter.charge(charge)));
  const admitted = decisions.then((all) => all.filter((decision) => decision.admitted).length);
  process.send?.(await admitted.catch(() => -1));
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
