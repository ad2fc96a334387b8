import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type AttackedGateway, startAttackedGateway } from '../../support/attacks/attacked-gateway.js';
import { type RedisImpostor, startRedisImpostor } from '../../support/attacks/redis-impostor.js';
import { eventually } from '../../support/eventually.js';
import { startGateway } from '../../support/gateway-process.js';
import { type RedisServer, startRedis } from '../../support/servers/redis.js';

const IS_BACK = 'limits are shared again';
/** Longer than three attempts to connect. */
const AWAY_MS = 1_000;

let redis: RedisServer;
let impostor: RedisImpostor;
let attacked: AttackedGateway;
beforeAll(async () => {
  redis = await startRedis();
  impostor = await startRedisImpostor(redis.url);
  attacked = await startAttackedGateway({ env: { REDIS_URL: impostor.url, LOG_LEVEL: 'info' } });
});
afterAll(async () => {
  await attacked.stop();
  await impostor.stop();
  await redis.stop();
});

const timesBack = () => attacked.gateway.output().split(IS_BACK).length;

test.each([
  ['an array of an impossible length', Buffer.from('*9999999999\r\n')],
  ['unrequested null replies', Buffer.from('$-1\r\n'.repeat(20))],
  ['arrays in arrays', Buffer.from('*1\r\n'.repeat(20_000))],
  ['numbers', Buffer.from(':5\r\n'.repeat(20))],
  ['the answer of a web server', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
  ['a text without an end', Buffer.concat([Buffer.from('$1500000000\r\n'), Buffer.alloc(4_000_000, 'x')])],
  ['the end of the connection', 'hangs up' as const],
  ['silence', 'silence' as const],
])(
  'Attack-redis-1: %s instead of Redis: the process stays up, serves, and uses Redis again',
  async (_, answering) => {
    const { gateway, neighbour, memoryMb } = attacked;
    const before = timesBack();
    neighbour.startOver();
    const beforeMb = await memoryMb();
    impostor.set(answering);
    await pause(AWAY_MS);
    impostor.set('redis');
    await eventually('Redis is used again', () => timesBack() > before || gateway.hasEnded());
    expect(gateway.hasEnded()).toBe(false);
    expect(neighbour.failures()).toEqual([]);
    expect(gateway.faults()).toEqual([]);
    expect((await memoryMb()) - beforeMb).toBeLessThan(100);
  },
);

test('Attack-redis-2: a process starts although Redis is frozen', async () => {
  await redis.kill('SIGSTOP');
  try {
    const gateway = await startGateway({ env: { DATABASE_URL: 'sqlite::memory:', REDIS_URL: redis.url } });
    expect(gateway.output()).toContain('listens on');
    await gateway.kill('SIGKILL');
  } finally {
    await redis.kill('SIGCONT');
  }
});
