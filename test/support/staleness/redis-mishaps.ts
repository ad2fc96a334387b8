import { Redis } from 'ioredis';
import type { RedisServer } from '../servers/redis.js';

/** How a Redis that stores its data returns after kill -9. */
export type Return = 'with its data' | 'empty' | 'with the data of a while ago';

/** Kills it, awaits `meanwhile`, and starts it again at the same port. */
export async function dieAndReturn(
  server: RedisServer,
  how: Return,
  meanwhile: () => Promise<void>,
): Promise<void> {
  if (how === 'empty') await order(server, (redis) => redis.flushall());
  if (how === 'with the data of a while ago') {
    await order(server, (redis) => redis.config('SET', 'appendonly', 'no'));
    await meanwhile();
  }
  await server.kill('SIGKILL');
  await meanwhile();
  await server.restart();
}

async function order(server: RedisServer, command: (redis: Redis) => Promise<unknown>): Promise<void> {
  const redis = new Redis(server.url);
  try {
    await command(redis);
  } finally {
    redis.disconnect();
  }
}
