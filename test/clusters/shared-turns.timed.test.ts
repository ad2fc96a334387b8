import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { SharedTurns } from '../../src/ground/records/shared-turns.js';
import { connectRedis, type RedisConnection } from '../../src/ground/redis/redis-connection.js';
import { freePort } from '../support/servers/daemon.js';
import { type RedisServer, startRedis } from '../support/servers/redis.js';

const PROCESSES = 3;

let server: RedisServer;
let redis: RedisConnection;
beforeAll(async () => {
  server = await startRedis();
  redis = await connectRedis(server.url);
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

const processes = () => Array.from({ length: PROCESSES }, () => new SharedTurns(async () => redis));

test('Cluster-21: one process at a time has the turn of a project, and each gets as many as the others', async () => {
  const taken = [0, 0, 0];
  let holders = 0;
  let most = 0;
  const endMs = performance.now() + 1_000;
  const run = async (turns: SharedTurns, at: number) => {
    while (performance.now() < endMs) {
      const end = await turns.wait(1n);
      holders += 1;
      most = Math.max(most, holders);
      taken[at] = Number(taken[at]) + 1;
      await pause(5);
      holders -= 1;
      end();
    }
  };
  await Promise.all(processes().map(run));
  expect(most).toBe(1);
  expect(Math.min(...taken)).toBeGreaterThan(5);
  expect(Math.max(...taken) - Math.min(...taken)).toBeLessThanOrEqual(2);
});

test('Cluster-22: projects do not wait for each other', async () => {
  const [one, other] = processes() as [SharedTurns, SharedTurns];
  const [end, endOther] = [await one.wait(2n), await other.wait(3n)];
  end();
  endOther();
});

test('Cluster-23: nobody waits longer than about a second for a process that died, and 2 s later it is left out', async () => {
  const [dead, one, other] = processes() as [SharedTurns, SharedTurns, SharedTurns];
  await dead.wait(4n);
  const beganMs = performance.now();
  (await one.wait(4n))();
  expect(performance.now() - beganMs).toBeGreaterThan(900);
  (await one.wait(4n))();
  const end = await other.wait(4n);
  expect(await redis.zcard('petstore:turns:4')).toBe(1);
  end();
});

test('Cluster-24: without Redis nobody waits', async () => {
  const away = await connectRedis(`redis://127.0.0.1:${await freePort()}`);
  try {
    const turns = new SharedTurns(async () => away);
    const beganMs = performance.now();
    await turns.wait(5n);
    (await turns.wait(5n))();
    expect(performance.now() - beganMs).toBeLessThan(500);
  } finally {
    away.disconnect();
  }
});
