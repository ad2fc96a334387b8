import { expect, test } from '@jest/globals';
import { connectRedis } from '../../src/ground/redis/redis-connection.js';
import { StreamSlots } from '../../src/request/streams/stream-slots.js';
import { startRedis } from '../support/servers/redis.js';

test('Streams-37: after the clock of Redis was a day ahead, the streams of a dead process take no slots', async () => {
  const server = await startRedis();
  const redis = await connectRedis(server.url);
  const slots = new StreamSlots(Promise.resolve(redis));
  const key = 'petstore:streams:{7}';
  const aDayAhead = Date.now() + 86_400_000;
  await redis.zadd(key, aDayAhead * 1000, 'dead');
  await redis.zadd(`${key}:leases`, aDayAhead + 30_000, 'dead');
  expect(await slots.keep(7n, ['first', 'second'], 2)).toEqual([]);
  expect(await slots.keep(7n, ['third'], 2)).toEqual(['third']);
  expect(await redis.zrange(key, 0, -1)).toEqual(['first', 'second', 'third']);
  await redis.quit();
  await server.stop();
});
