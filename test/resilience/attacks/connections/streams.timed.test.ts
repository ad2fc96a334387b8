import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { type AttackedStreams, startAttackedStreams } from '../../../support/attacks/attacked-streams.js';
import { dropStreams } from '../../../support/attacks/dropped-streams.js';
import type { RawClient } from '../../../support/attacks/raw-client.js';
import { SMALL_OPERATION, statusOf, streamRequest } from '../../../support/attacks/raw-streams.js';
import { eventually } from '../../../support/eventually.js';
import { rest } from '../../../support/http/client.js';
import { type RedisServer, startRedis } from '../../../support/servers/redis.js';

const MAX_CONNECTIONS = 250;
const SHUTDOWN_SECONDS = 5;
const BEYOND = 50;

let attacked: AttackedStreams;
let redis: RedisServer;
let token: string;

beforeAll(async () => {
  redis = await startRedis();
  attacked = await startAttackedStreams({ REDIS_URL: redis.url });
});
beforeEach(async () => {
  token = await attacked.newKey();
});
afterEach(() => attacked.leaveAll());
afterAll(async () => {
  await attacked.stop();
  await redis.stop();
});

const create = () =>
  rest(attacked.gateway.url, '/v1/toys', { method: 'POST', token, body: { name: 'Rex', categoryId: 1 } });
const hasChange = ({ received }: RawClient) => received.includes('event: next');

test('StreamAttack-7: 1,000 streams that are opened and dropped leave no slot, no descriptor and no memory', async () => {
  const { gateway, attack, noneIsOpen } = attacked;
  // Allocates what the attack does not cause.
  await dropStreams(gateway, token, 200);
  await noneIsOpen();
  const descriptors = await attacked.descriptors();
  const { keptMb } = await attack(async () => {
    await dropStreams(gateway, token, 1_000);
    await noneIsOpen();
  });
  const client = new Redis(redis.url);
  await eventually('no slot', async () => (await client.keys('petstore:streams:*')).length === 0);
  client.disconnect();
  expect(await attacked.descriptors()).toBeLessThanOrEqual(descriptors + 5);
  expect(keptMb).toBeLessThan(25);
}, 60_000);

test.each([
  ['HTTP/1.0', { version: '1.0' as const }, /^connection: close\r$/im],
  ['Connection: close', { headers: { connection: 'close' } }, /^connection: close\r$/im],
  [
    'Expect: 100-continue',
    { headers: { expect: '100-continue' } },
    /^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200/,
  ],
  ['Expect: anything', { headers: { expect: 'anything' } }, /^HTTP\/1.1 200/],
])(
  'StreamAttack-8: a client with %s gets changes, and ends its stream when it closes its side',
  async (_, request, head) => {
    const client = await attacked.open(streamRequest(token, request));
    expect(client.received).toMatch(head);
    expect(/^transfer-encoding: chunked/im.test(client.received)).toBe(!('version' in request));
    await create();
    await eventually('the change', () => hasChange(client));
    client.socket.end();
    await attacked.noneIsOpen();
    await eventually('closed', () => client.lastedMs !== null);
  },
);

test.each(['HEAD', 'PUT', 'DELETE'])('StreamAttack-9: %s opens no stream', async (method) => {
  const line = `${method} /graphql?query=${encodeURIComponent(SMALL_OPERATION)} HTTP/1.1\r\nHost: localhost\r\n`;
  const client = await attacked.open(
    `${line}Authorization: Bearer ${token}\r\nAccept: text/event-stream\r\n\r\n`,
  );
  expect(Math.floor(statusOf(client) / 100)).toBe(4);
  expect(await attacked.openStreams()).toBe(0);
  client.leave();
});

test('StreamAttack-10: what is sent behind an open stream is not kept, and not answered before its end', async () => {
  const { open, attack, openStreams } = attacked;
  const next = `GET /v1/toys HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`;
  const clients: RawClient[] = [];
  const { mostMb } = await attack(async () => {
    for (let at = 0; at < 40; at += 1) {
      const client = await open(streamRequest(token));
      // Together fewer than all connections may have waiting.
      client.send(at % 8 === 0 ? next.repeat(1_500) : '\0'.repeat(2_000_000));
      clients.push(client);
    }
    await create();
    await eventually('the changes', () => clients.every(hasChange));
  });
  expect(clients.filter(({ received }) => received.split('HTTP/1.1 ').length > 2)).toEqual([]);
  expect(mostMb).toBeLessThan(60);
  for (const client of clients) client.leave();
  // A connection that is not read is noticed by what is written.
  await eventually('no open stream', async () => (await create()) && (await openStreams()) === 0);
}, 60_000);

test('StreamAttack-11: idle streams take no connection from others, and a process with all of them ends in time', async () => {
  const full = await startAttackedStreams({
    MAX_CONNECTIONS: String(MAX_CONNECTIONS),
    SHUTDOWN_SECONDS: String(SHUTDOWN_SECONDS),
  });
  const { gateway, open, attack, newKey } = full;
  try {
    const key = await newKey();
    const clients: RawClient[] = [];
    const openMany = async (count: number) => {
      for (let at = 0; at < count; at += 1) clients.push(await open(streamRequest(key)));
    };
    await attack(() => openMany(MAX_CONNECTIONS - 10));
    await openMany(BEYOND);
    for (let sent = 0; sent < 20; sent += 1) {
      const headers = { connection: 'close' };
      expect((await rest(gateway.url, '/v1/toys', { token: key, headers })).status).toBe(200);
    }
    const stay = clients.filter(({ lastedMs }) => lastedMs === null);
    expect(stay.length).toBeGreaterThan(MAX_CONNECTIONS / 2);
    const startedAt = performance.now();
    await gateway.kill('SIGTERM');
    expect((await gateway.ended).code).toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(SHUTDOWN_SECONDS * 1_000 + 500);
    expect(stay.filter(({ received }) => !received.includes('"UNAVAILABLE"'))).toEqual([]);
  } finally {
    await full.stop();
  }
}, 60_000);
