import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type AttackedGateway, startAttackedGateway } from '../../../support/attacks/attacked-gateway.js';
import { RawClient } from '../../../support/attacks/raw-client.js';
import { eventually } from '../../../support/eventually.js';
import { freePort } from '../../../support/servers/daemon.js';

const SILENT = 1_200;
const MAX_DESCRIPTORS = 1_024;
const HANDSHAKE_MS = 10_000;
/** The clients of the test run on the same machine, which may be busy. */
const NOISE_MS = 2_000;
const HELLO = '\x16\x03\x01\x02\x00\x01';

let httpsPort: number;
let metricsPort: number;
let attacked: AttackedGateway;

beforeEach(async () => {
  httpsPort = await freePort();
  metricsPort = await freePort();
  attacked = await startAttackedGateway({
    env: {
      HTTPS_PORT: String(httpsPort),
      METRICS_PORT: String(metricsPort),
      SECRET_KEY: 'ab'.repeat(32),
      SHUTDOWN_SECONDS: '6',
    },
  });
});
afterEach(() => attacked.stop());

/** Opens clients of a port, one hundred at a time. */
async function connectMany(port: number, count: number): Promise<RawClient[]> {
  const clients: RawClient[] = [];
  while (clients.length < count) {
    const some = Array.from({ length: 100 }, () => RawClient.open({ port }).catch(() => null));
    clients.push(...(await Promise.all(some)).filter((client) => client !== null));
  }
  return clients;
}

const isServed = async () =>
  (await fetch(`${attacked.gateway.url}/healthz`, { headers: { connection: 'close' } })).ok;

test('Attack-2: 1,200 connections without a handshake do not block /healthz and the neighbour, and end in 10 s', async () => {
  const { gateway, neighbour, descriptors } = attacked;
  const before = await descriptors();
  neighbour.startOver();
  const clients = await connectMany(httpsPort, SILENT);
  // A handshake that trickles byte by byte does not count as one.
  const trickling = clients.slice(-100);
  const timer = setInterval(() => {
    for (const client of trickling) if (client.lastedMs === null) client.send('\0');
  }, 500);
  for (const client of trickling) client.send(HELLO);
  const isOver = () => clients.every(({ lastedMs }) => lastedMs !== null);
  const isServedUntilOver = async () => {
    expect(await isServed()).toBe(true);
    return isOver();
  };
  await eventually('all over', isServedUntilOver, HANDSHAKE_MS + NOISE_MS).finally(() =>
    clearInterval(timer),
  );
  expect(Math.max(...clients.map(({ lastedMs }) => Number(lastedMs)))).toBeLessThan(HANDSHAKE_MS + NOISE_MS);
  await eventually('nothing kept', async () => (await descriptors()) <= before + 5, NOISE_MS);
  expect(neighbour.readCount).toBeGreaterThan(50);
  expect(neighbour.failures()).toEqual([]);
  expect(gateway.faults()).toEqual([]);
});

test('Attack-11: a client that leaves before its handshake times out leaves no descriptor behind', async () => {
  const before = await attacked.descriptors();
  const clients = await connectMany(httpsPort, 100);
  await eventually('accepted', async () => (await attacked.descriptors()) >= before + 100);
  // Half of them only close their sending side.
  for (const [index, client] of clients.entries()) index % 2 ? client.leave() : client.socket.end();
  await eventually('gone', async () => (await attacked.descriptors()) <= before + 5);
});

test.each([['HTTP'], ['the metrics']])(
  'Attack-8: at the bound of all ports together, silent connections to %s are closed, oldest first',
  async (name) => {
    const port = name === 'HTTP' ? attacked.gateway.port : metricsPort;
    attacked.neighbour.startOver();
    const clients = await connectMany(port, SILENT);
    expect(await isServed()).toBe(true);
    const closed = (some: RawClient[]) => some.filter(({ lastedMs }) => lastedMs !== null).length;
    await eventually('room made', () => closed(clients) >= SILENT - MAX_DESCRIPTORS);
    expect(closed(clients.slice(-100))).toBe(0);
    expect(attacked.neighbour.failures()).toEqual([]);
    for (const client of clients) client.leave();
  },
);

test('Reliability-12: SIGINT waits for no silent or idle connection, on any port', async () => {
  const { gateway } = attacked;
  attacked.neighbour.leave();
  const ports = [gateway.port, httpsPort, metricsPort];
  await Promise.all(ports.map((port) => connectMany(port, 100)));
  const idle = await connectMany(gateway.port, 100);
  for (const client of idle) client.send('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await eventually('idle', () => idle.every(({ received }) => received.includes('"ok"')));
  const startedAt = performance.now();
  await gateway.kill('SIGINT');
  expect(await gateway.ended).toEqual({ code: 0, signal: null });
  expect(performance.now() - startedAt).toBeLessThan(1_500);
});
