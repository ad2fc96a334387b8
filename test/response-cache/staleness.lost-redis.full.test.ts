import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { type App, createApp } from '../../src/app/app.js';
import { GATEWAY } from '../support/gateway/tested-gateway.js';
import { rest } from '../support/http/client.js';
import { type FaultProxy, startFaultProxy } from '../support/http/fault-proxy.js';
import { type RedisServer, startRedis } from '../support/servers/redis.js';
import { startApp, type TestApp } from '../support/start-app.js';

const ROUNDS = 5;

let redis: RedisServer;
let network: FaultProxy;
let reader: TestApp;
let writer: App;
beforeAll(async () => {
  redis = await startRedis();
  network = await startFaultProxy(Number(new URL(redis.url).port));
  reader = await startApp({ env: { REDIS_URL: redis.url } });
  const { db, clock, config } = reader;
  const redisUrl = `redis://127.0.0.1:${network.port}`;
  const logger = pino({ level: 'silent' });
  writer = await createApp({
    gateway: GATEWAY,
    config: { ...config, redisUrl },
    db,
    logger,
    now: () => clock.now,
  });
  await writer.listen();
});
afterAll(async () => {
  await network.stop();
  await writer.http.close();
  await reader.stop();
  await redis.stop();
});

test('Staleness-7: a write acknowledged by a process that has lost Redis is seen at once by processes that have not', async () => {
  const { port } = writer.http.server.address() as AddressInfo;
  const { token } = await reader.tenant();
  const names = async () => {
    const { body } = await rest(reader.url, '/v1/toys', { token });
    return body.map(({ name }: { name: string }) => name);
  };
  const wanted: string[] = [];
  await network.set('reset');
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (let times = 0; times < 3; times += 1) expect(await names()).toEqual(wanted);
    const body = { name: `toy-${round}`, categoryId: 1 };
    const { status } = await rest(`http://127.0.0.1:${port}`, '/v1/toys', { method: 'POST', token, body });
    expect(status).toBe(201);
    wanted.push(body.name);
    expect(await names()).toEqual(wanted);
  }
});
