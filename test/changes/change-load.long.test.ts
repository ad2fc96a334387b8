import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { RawClient } from '../support/attacks/raw-client.js';
import { openLogOf } from '../support/changes/open-log.js';
import { createTestDatabase, type TestDatabase } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { createTenant, type GatewayProcess, startGateway } from '../support/gateway-process.js';
import { rest } from '../support/http/client.js';
import { type RedisServer, startRedis } from '../support/servers/redis.js';

const WRITERS = 32;
const MEASURED_MS = 10_000;
const CHANGES_PER_SECOND = 100;
const LISTS_PER_SECOND = 200;
const TURNS = 7;
const PROJECTS = 100;
const STREAMS_OF_PROJECT = 10;

let database: TestDatabase;
let redis: RedisServer;
let gateways: GatewayProcess[];

beforeAll(async () => {
  [database, redis] = await Promise.all([createTestDatabase('mysql'), startRedis()]);
  const env = { DATABASE_URL: database.url, REDIS_URL: redis.url, OVERLOAD: 'off', MAX_CONNECTIONS: '4000' };
  gateways = [
    await startGateway({ env, maxDescriptors: 5_000 }),
    await startGateway({ env, maxDescriptors: 5_000 }),
  ];
}, 120_000);
afterAll(async () => {
  for (const gateway of gateways) await gateway.kill('SIGKILL');
  await Promise.all([database.remove(), redis.stop()]);
});

const urlOf = (at: number) => String(gateways[at % 2]?.url);
const create = (at: number, token: string, name: string) =>
  rest(urlOf(at), '/v1/toys', { method: 'POST', token, body: { name, categoryId: 1 } });

test('ChangeLoad-1: a project with a change log creates at least 300 toys a second, and its neighbour is not slower', async () => {
  const [token, neighbour] = [await createTenant(database.url), await createTenant(database.url)];
  await openLogOf(database.url, token);
  const rateOf = async (writing: string) => {
    const endsAtMs = performance.now() + MEASURED_MS;
    let created = 0;
    const write = async (at: number) => {
      for (; performance.now() < endsAtMs; created += 1) {
        const { status } = await create(at, writing, 'Rex');
        if (status !== 201) throw new Error(`refused with ${status}`);
      }
    };
    await Promise.all(Array.from({ length: WRITERS }, (_, at) => write(at)));
    return created / (MEASURED_MS / 1_000);
  };
  const latencyOf = async () => {
    const times: number[] = [];
    for (let at = 0; at < 200; at += 1) {
      const sinceMs = performance.now();
      await create(at, neighbour, 'Luna');
      times.push(performance.now() - sinceMs);
    }
    return times.sort((a, b) => a - b)[100] as number;
  };
  const without = await rateOf(neighbour);
  const [rate, beside] = await Promise.all([rateOf(token), latencyOf()]);
  const other = await createTenant(database.url);
  const [, besideUnlogged] = await Promise.all([rateOf(other), latencyOf()]);
  console.log({
    logged: rate,
    unlogged: without,
    neighbourMs: beside,
    neighbourOfUnloggedMs: besideUnlogged,
  });
  expect(rate).toBeGreaterThanOrEqual(300);
  expect(beside).toBeLessThan(2 * besideUnlogged + 5);
}, 120_000);

test('ChangeLoad-2: 100 changes a second reach 1,000 streams of two processes within 100 ms', async () => {
  const tokens = await loggedProjects();
  const delays: number[] = [];
  const committedAtMs = new Map<string, number>();
  const clients = await openStreams(tokens, (text) => {
    const nowMs = performance.now();
    for (const [name] of text.matchAll(/at-\d+/g)) delays.push(nowMs - (committedAtMs.get(name) ?? nowMs));
  });
  // The answer comes after the commit, so this is the latest that the commit can have been.
  const written = (name: string) => committedAtMs.set(name, committedAtMs.get(name) ?? performance.now());
  const count = await writeChanges(tokens, written);
  await eventually('all events', () => delays.length >= count * STREAMS_OF_PROJECT);
  delays.sort((a, b) => a - b);
  const at = (part: number) => Math.round(delays[Math.floor(delays.length * part)] ?? Number.NaN);
  console.log({ events: delays.length, p50: at(0.5), p99: at(0.99), worst: at(0.9999) });
  expect(at(0.99)).toBeLessThanOrEqual(100);
  for (const client of clients) client.leave();
}, 180_000);

test('ChangeLoad-3: 1,000 streams with 100 changes a second take at most 5 % of a process from its lists', async () => {
  const reader = await createTenant(database.url);
  for (let at = 0; at < 100; at += 1) await create(at, reader, 'Rex');
  const tokens = await loggedProjects();
  const list = () => rest(urlOf(0), '/v1/toys?limit=20', { token: reader });
  /**
   * The part of a processor that the first gateway uses. At a steady rate, because the client of the streams takes some of
   * the machine too. A gateway without idle time would answer fewer lists by what the streams add to it.
   */
  const load = async () => {
    // Streams were opened or left just before.
    await untilIdle();
    const beforeMs = await processorMs();
    await Promise.all([writeChanges(tokens, () => {}), atRate(LISTS_PER_SECOND, list)]);
    return ((await processorMs()) - beforeMs) / MEASURED_MS;
  };
  await load();
  const taken: number[] = [];
  for (let turn = 0; turn < TURNS; turn += 1) {
    const without = await load();
    const clients = await openStreams(tokens, () => {});
    taken.push((await load()) - without);
    for (const client of clients) client.leave();
  }
  taken.sort((a, b) => a - b);
  console.log({ taken });
  expect(taken[Math.floor(TURNS / 2)]).toBeLessThanOrEqual(0.05);
}, 400_000);

/** The processor time of the first gateway so far. */
async function processorMs(): Promise<number> {
  const stat = await readFile(`/proc/${gateways[0]?.processId}/stat`, 'utf8');
  const [user = '0', system = '0'] = stat.slice(stat.lastIndexOf(')')).split(' ').slice(12, 14);
  const TICK_MS = 10;
  return (Number(user) + Number(system)) * TICK_MS;
}

/** Waits until the first gateway uses less than a tenth of a processor. */
function untilIdle(): Promise<unknown> {
  const EVERY_MS = 200;
  let lastMs = Number.NEGATIVE_INFINITY;
  const probe = async () => {
    const nowMs = await processorMs();
    const usedMs = nowMs - lastMs;
    lastMs = nowMs;
    return usedMs < EVERY_MS / 10;
  };
  return eventually('an idle gateway', probe, undefined, EVERY_MS);
}

async function loggedProjects(): Promise<string[]> {
  const tokens: string[] = [];
  for (let at = 0; at < PROJECTS; at += 1) {
    const token = await createTenant(database.url);
    await openLogOf(database.url, token);
    tokens.push(token);
  }
  return tokens;
}

/** Opens the streams of each project, half of them at each process. */
async function openStreams(tokens: string[], onText: (text: string) => void): Promise<RawClient[]> {
  const body = JSON.stringify({ query: 'subscription { toyChanges { cursor toy { name } } }' });
  const open = async (token: string, at: number) => {
    const client = await RawClient.open({ port: gateways[at % 2]?.port ?? 0 });
    client.socket.on('data', onText);
    client.send(
      `POST /graphql HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nAccept: text/event-stream\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await eventually('the head of the stream', () => client.received.includes('retry:'));
    return client;
  };
  const clients: RawClient[] = [];
  for (const token of tokens) {
    const opening = Array.from({ length: STREAMS_OF_PROJECT }, (_, at) => open(token, at));
    clients.push(...(await Promise.all(opening)));
  }
  return clients;
}

/** Creates toys in turn in each project, at a steady rate. Returns how many. */
function writeChanges(tokens: string[], onWritten: (name: string) => void): Promise<number> {
  return atRate(CHANGES_PER_SECOND, async (at) => {
    const name = `at-${at}`;
    await create(at, tokens[at % PROJECTS] as string, name);
    onWritten(name);
  });
}

/** Begins the work so often in each second of the measurement. Returns how often in all. */
async function atRate(perSecond: number, work: (at: number) => Promise<unknown>): Promise<number> {
  const count = (perSecond * MEASURED_MS) / 1_000;
  const begun: Promise<unknown>[] = [];
  const startMs = performance.now();
  for (let at = 0; at < count; at += 1) {
    const dueMs = startMs + (at * 1_000) / perSecond;
    while (performance.now() < dueMs) await new Promise((resolve) => setTimeout(resolve, 1));
    begun.push(work(at));
  }
  await Promise.all(begun);
  return count;
}
