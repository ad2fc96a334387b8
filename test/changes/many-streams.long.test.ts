import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createConnection } from 'mysql2/promise';
import { RawClient } from '../support/attacks/raw-client.js';
import { openLogOf } from '../support/changes/open-log.js';
import { createTestDatabase, type TestDatabase } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { createTenant, type GatewayProcess, startGateway } from '../support/gateway-process.js';
import { type RedisServer, startRedis } from '../support/servers/redis.js';

const PROJECTS = 10;
const STREAMS_OF_PROJECT = 1_000;
const QUIET_MS = 60_000;
/** The times of the last uses of keys are written within it. */
const SETTLES_MS = 65_000;
const MB = 1024 * 1024;

let database: TestDatabase;
let redis: RedisServer;
let gateway: GatewayProcess;
const tokens: string[] = [];

beforeAll(async () => {
  [database, redis] = await Promise.all([createTestDatabase('mysql'), startRedis()]);
  gateway = await startGateway({
    env: { DATABASE_URL: database.url, REDIS_URL: redis.url, MAX_CONNECTIONS: '12000', OVERLOAD: 'off' },
    maxDescriptors: 14_000,
  });
  for (let at = 0; at < PROJECTS; at += 1) {
    const token = await createTenant(database.url);
    await openLogOf(database.url, token);
    tokens.push(token);
  }
}, 120_000);
afterAll(async () => {
  await gateway.kill('SIGKILL');
  await Promise.all([database.remove(), redis.stop()]);
});

test('StreamLoad-1: 10,000 idle streams take at most 150 MB, and cause no statement', async () => {
  const query = 'subscription { toyChanges { cursor kind toy { id } } }';
  const body = JSON.stringify({ query });
  const requestOf = (token: string) =>
    `POST /graphql HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nAccept: text/event-stream\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const open = async (token: string) => {
    const client = await RawClient.open({ port: gateway.port });
    client.send(requestOf(token));
    await eventually('the head of the stream', () => client.received.includes('retry:'));
    return client;
  };
  const warm = await Promise.all(tokens.map(open));
  for (const client of warm) client.leave();
  await sampleOf(SETTLES_MS);
  const idle = await sampleOf(QUIET_MS);
  const clients: RawClient[] = [];
  for (const token of tokens) {
    for (let opened = 0; opened < STREAMS_OF_PROJECT; opened += 100) {
      clients.push(...(await Promise.all(Array.from({ length: 100 }, () => open(token)))));
    }
  }
  await sampleOf(SETTLES_MS);
  const streaming = await sampleOf(QUIET_MS);
  expect(clients.filter(({ lastedMs }) => lastedMs !== null)).toEqual([]);
  expect(gateway.faults()).toEqual([]);
  const mib = (bytes: number) => Math.round(bytes / MB);
  console.log({
    idleMb: mib(idle.bytes),
    streamingMb: mib(streaming.bytes),
    idle: idle.statements,
    streaming: streaming.statements,
  });
  expect(streaming.statements).toBeLessThanOrEqual(idle.statements);
  expect(mib(streaming.bytes - idle.bytes)).toBeLessThanOrEqual(150);
  for (const client of clients) client.leave();
}, 500_000);

/** The statements of the server within a time, and the memory of the gateway at its end. */
async function sampleOf(ms: number): Promise<{ statements: number; bytes: number }> {
  const connection = await createConnection(database.url);
  const questions = async () => {
    const [rows] = await connection.query("SHOW GLOBAL STATUS LIKE 'Questions'");
    return Number((rows as { Value: string }[])[0]?.Value);
  };
  const before = await questions();
  await new Promise((resolve) => setTimeout(resolve, ms));
  const statements = (await questions()) - before;
  await connection.end();
  const status = await readFile(`/proc/${gateway.processId}/status`, 'utf8');
  const [, kilobytes] = /VmRSS:\s+(\d+) kB/.exec(status) ?? [];
  return { statements, bytes: Number(kilobytes) * 1024 };
}
