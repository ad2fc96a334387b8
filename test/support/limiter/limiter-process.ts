import { connectRedis } from '../../../src/ground/redis/redis-connection.js';
import { RedisLimiter } from '../../../src/request/rate-limit/redis/redis-limiter.js';

/**
 * A process that shares Redis with others. It answers each order with the number of its concurrent charges that were
 * admitted. The answer is -1 when Redis did not answer in time, which a busy machine may cause.
 */
export interface ChargeOrder {
  subject: string;
  requests: number;
  perMinute: number;
}

const limiter = new RedisLimiter(await connectRedis(process.argv[2] ?? ''));

process.on('message', async ({ subject, requests, perMinute }: ChargeOrder) => {
  const quota = { perMinute, perDay: 1_000_000 };
  const charge = { subject, keyId: 'key', quota, cost: 1 };
  const decisions = Promise.all(Array.from({ length: requests }, () => limiter.charge(charge)));
  const admitted = decisions.then((all) => all.filter((decision) => decision.admitted).length);
  process.send?.(await admitted.catch(() => -1));
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
