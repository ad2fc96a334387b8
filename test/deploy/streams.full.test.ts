import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { followStream } from '../../browser/result-stream.js';
import { createTestDatabase, sharedDatabase, type TestDatabase } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { createTenant, type GatewayProcess, startGateway } from '../support/gateway-process.js';
import { rest } from '../support/http/client.js';
import { freePort } from '../support/servers/daemon.js';
import { startProxy } from '../support/servers/haproxy.js';

const FOLLOW = 'subscription { toyChanges { toy { name } } }';
interface Followed {
  toyChanges: { toy: { name: string } };
}
/** Between the heartbeats of an idle stream. */
const HEARTBEAT_MS = 15_000;
const stops: (() => unknown)[] = [];

let database: TestDatabase;
let ports: number[];
let proxy: Awaited<ReturnType<typeof startProxy>>;
beforeAll(async () => {
  database = await createTestDatabase(sharedDatabase());
  ports = [await freePort(), await freePort()];
  proxy = await startProxy(ports);
});
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});
afterAll(async () => {
  await proxy?.stop();
  await database?.remove();
});

/** Starts the process at the first or second port. Resolves when the proxy sends requests to it. */
async function start(at: 0 | 1): Promise<GatewayProcess> {
  const gateway = await startGateway({
    env: {
      DATABASE_URL: database.url,
      PORT: String(ports[at]),
      TRUSTED_PROXIES: '127.0.0.1',
      SHUTDOWN_SECONDS: '4',
      LOG_LEVEL: 'info',
      DEMO: '0',
    },
  });
  stops.push(() => gateway.kill('SIGKILL'));
  // The proxy checks the process twice: for streams, and for other requests.
  for (const accept of ['*/*', 'text/event-stream']) {
    const path = `/found-by-${gateway.processId}-for-${accept.length}`;
    await eventually('found by the proxy', async () => {
      await fetch(`${proxy.url}${path}`, { headers: { accept } });
      return gateway.output().includes(path);
    });
  }
  return gateway;
}

const create = async (token: string, name: string) => {
  const { status } = await rest(proxy.url, '/v1/toys', {
    method: 'POST',
    token,
    body: { name, categoryId: 1 },
  });
  expect(status).toBe(201);
};

/** Opens a stream through the proxy. `text` is what has arrived. */
async function open(token: string) {
  const controller = new AbortController();
  const response = await fetch(`${proxy.url}/graphql`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'text/event-stream',
    },
    body: JSON.stringify({ query: FOLLOW }),
    signal: controller.signal,
  });
  const stream = { status: response.status, text: '', isOpen: true, leave: () => controller.abort() };
  stops.push(stream.leave);
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) stream.text += decoder.decode(chunk, { stream: true });
  };
  void read()
    .catch(() => {})
    .finally(() => {
      stream.isOpen = false;
    });
  return stream;
}

test('Deploy-3: the proxy passes each event on at once, also after a time without events, and ends the stream of a client that goes', async () => {
  await start(0);
  const token = await createTenant(database.url, 'FREE', { isLogged: true });
  const stream = await open(token);
  expect(stream.status).toBe(200);
  const delays: number[] = [];
  for (let at = 0; at < 15; at += 1) {
    await create(token, `Toy ${at}.`);
    const createdAtMs = performance.now();
    await eventually('the event', () => stream.text.includes(`"Toy ${at}."`), 5_000, 2);
    delays.push(performance.now() - createdAtMs);
  }
  // It would be 150 ms if HAProxy waited for more bytes.
  expect(delays.sort((a, b) => a - b)[7]).toBeLessThan(75);

  const { length } = stream.text;
  await eventually('a heartbeat', () => stream.text.length > length, HEARTBEAT_MS + 10_000);
  expect(stream.text.slice(length)).toMatch(/^:/m);
  expect(stream.isOpen).toBe(true);
  await create(token, 'After the rest');
  await eventually('the event', () => stream.text.includes('After the rest'));

  // The plan has two streams.
  expect((await open(token)).status).toBe(200);
  expect((await open(token)).status).toBe(429);
  stream.leave();
  await eventually('room for another', async () => (await open(token)).status === 200, 2_000, 200);
}, 120_000);

test('Deploy-4: streams resume at another process when theirs stops, with each change once, and no request of others fails', async () => {
  const first = await start(0);
  const token = await createTenant(database.url, 'ENTERPRISE', { isLogged: true });
  const seen: string[][] = [];
  let live = 0;
  for (let at = 0; at < 10; at += 1) {
    const names: string[] = [];
    seen.push(names);
    const close = followStream(
      {
        url: `${proxy.url}/graphql`,
        headers: { authorization: `Bearer ${token}` },
        body: { query: FOLLOW },
      },
      {
        state: ({ kind }) => {
          live += kind === 'live' ? 1 : 0;
        },
        next: ({ data }) => names.push((data as unknown as Followed).toyChanges.toy.name),
        end: (refusal) => names.push(`ended: ${JSON.stringify(refusal)}`),
      },
    );
    stops.push(close);
  }
  await eventually('all live', () => live === seen.length);
  await start(1);
  const created: string[] = [];
  const write = async (count: number) => {
    for (let at = 0; at < count; at += 1) {
      const name = `Toy ${created.length}`;
      await create(token, name);
      created.push(name);
    }
  };
  await write(20);
  const stopped = first.kill('SIGTERM').then(() => first.ended);
  let hasStopped = false;
  void stopped.then(() => {
    hasStopped = true;
  });
  while (!hasStopped) await write(5);
  expect(await stopped).toEqual({ code: 0, signal: null });
  await write(20);
  await eventually('each has all', () => seen.every((names) => names.length >= created.length));
  for (const names of seen) expect(names).toEqual(created);
}, 120_000);

test('Deploy-5: streams are no load to the proxy: another process gets its share of the requests, not all', async () => {
  const first = await start(0);
  const token = await createTenant(database.url, 'ENTERPRISE', { isLogged: true });
  for (let at = 0; at < 10; at += 1) expect((await open(token)).status).toBe(200);
  const second = await start(1);
  const answered = ({ output }: GatewayProcess) => output().split('/share-of-requests').length - 1;
  for (let sent = 0; sent < 20; sent += 1) await fetch(`${proxy.url}/share-of-requests`);
  await eventually('all logged', () => answered(first) + answered(second) >= 20);
  expect(answered(first)).toBeGreaterThanOrEqual(5);
  expect(answered(second)).toBeGreaterThanOrEqual(5);
}, 120_000);
