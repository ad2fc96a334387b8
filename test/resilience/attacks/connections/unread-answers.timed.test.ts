import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type AttackedGateway, startAttackedGateway } from '../../../support/attacks/attacked-gateway.js';
import { RawClient } from '../../../support/attacks/raw-client.js';
import { eventually } from '../../../support/eventually.js';
import { slowness } from '../../../support/own-time.js';
import { freePort } from '../../../support/servers/daemon.js';

const PIPELINED = 1_500;
const MOST_MORE_MB = 100;
const CLOSED_WITHIN_MS = 15_000;
/** The gateway first fills the buffers of the operating system; on a development machine in less than a second. */
const FILLING_MS = 5_000;

let attacked: AttackedGateway;
let metricsPort: number;

beforeEach(async () => {
  metricsPort = await freePort();
  attacked = await startAttackedGateway({ env: { METRICS_PORT: String(metricsPort) } });
  // Warm up: the first request of each page allocates memory that the attack does not cause.
  const paths = ['/v1/docs', '/v1/openapi.json', '/dashboard/', '/graphiql', '/healthz'];
  await Promise.all(paths.map(async (path) => (await fetch(attacked.gateway.url + path)).arrayBuffer()));
});
afterEach(() => attacked.stop());

const many = (path: string, count = PIPELINED) =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${attacked.attackerToken}\r\n\r\n`.repeat(
    count,
  );

test.each([
  ['40 connections', 40, '/v1/docs'],
  ['40 connections', 40, '/v1/openapi.json'],
  ['40 connections', 40, '/dashboard'],
  ['40 connections', 40, '/graphiql'],
  ['40 connections', 40, '/v1/toys?limit=100'],
  ['40 connections', 40, '/metrics'],
  ['600 connections', 600, '/v1/docs'],
])(
  'Attack-3: %s with 1,500 pipelined requests and unread answers cost little memory: %#',
  async (_, connections, path) => {
    const { gateway, neighbour, memoryMb } = attacked;
    const before = await memoryMb();
    const port = path === '/metrics' ? metricsPort : gateway.port;
    const clients = Array.from({ length: connections }, () =>
      new RawClient({ port, reads: false }).send(many(path)),
    );
    let mostMb = 0;
    const isServedAgain = async () => {
      mostMb = Math.max(mostMb, await memoryMb());
      const startedAt = performance.now();
      await (await fetch(`${gateway.url}/healthz`, { headers: { connection: 'close' } })).text();
      return performance.now() - startedAt < 200;
    };
    await eventually('served as before', isServedAgain, 20_000);
    neighbour.startOver();
    await eventually('the neighbour reads', async () => (await isServedAgain()) && neighbour.readCount > 20);
    expect(mostMb - before).toBeLessThan(MOST_MORE_MB);
    expect(neighbour.failures()).toEqual([]);
    expect(gateway.faults()).toEqual([]);
    expect(gateway.hasEnded()).toBe(false);
    for (const client of clients) client.leave();
  },
);

test('Attack-14: clients that read nothing, or a few bytes from time to time, are closed in 15 s', async () => {
  const { gateway, descriptors } = attacked;
  const before = await descriptors();
  const startedAt = performance.now();
  // The largest page: the 600 answers of a minute must exceed the buffers of the operating system, 4 MB a connection.
  const open = () =>
    Array.from({ length: 2 }, () =>
      new RawClient({ port: gateway.port, reads: false }).send(many('/v1/openapi.json', 500)),
    );
  const silent = open();
  const dripping = open();
  const timer = setInterval(() => {
    for (const { socket } of dripping) socket.read(64);
  }, 200);
  await eventually('all there', async () => (await descriptors()) >= before + 4);
  await eventually(
    'all closed',
    async () => (await descriptors()) <= before + 1,
    CLOSED_WITHIN_MS + FILLING_MS * (await slowness()),
  );
  clearInterval(timer);
  expect(performance.now() - startedAt).toBeGreaterThan(5_000);
  for (const client of [...silent, ...dripping]) client.leave();
});

test('Attack-15: a client that reads gets all its pipelined answers in order', async () => {
  const ids = Array.from({ length: PIPELINED }, (_, index) => String(index));
  const client = await RawClient.open({ port: attacked.gateway.port });
  client.send(ids.map((id) => many(`/v1/toys/${id}`, 1)).join(''));
  const answered = () => [...client.received.matchAll(/There is no toy (\d+)|no toy (\d+)/g)];
  await eventually('all answered', () => answered().length === PIPELINED, 20_000);
  expect(answered().map(([, a, b]) => a ?? b)).toEqual(ids);
  client.leave();
});
