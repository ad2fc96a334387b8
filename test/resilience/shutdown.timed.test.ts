import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { createTestDatabase, type DatabaseKind, type TestDatabase } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { createTenant, type GatewayProcess, startGateway } from '../support/gateway-process.js';
import { type FaultProxy, startFaultProxy } from '../support/http/fault-proxy.js';
import { KeepAliveClient } from '../support/http/keep-alive-client.js';
import { testOnMysql } from '../support/on-databases.js';
import { type Habit, ToyLoad } from '../support/toy-load.js';

const SHUTDOWN_SECONDS = 6;
const KEPT_ALIVE = 40;
/** Longer than between the two signals of one press. */
const ANOTHER_PRESS_MS = 400;

/** Runs `work` with a gateway and the token of its project; ends and removes both afterwards. */
async function withGateway(
  {
    nodeArgs,
    proxied = false,
    env = {},
  }: { nodeArgs?: string[]; proxied?: boolean; env?: Record<string, string> },
  work: (gateway: GatewayProcess, token: string, proxy: FaultProxy | null) => Promise<void>,
): Promise<void> {
  const kind: DatabaseKind = proxied ? 'mysql' : 'sqlite';
  const database: TestDatabase = await createTestDatabase(kind);
  const proxy = proxied ? await startFaultProxy(Number(new URL(database.url).port)) : null;
  const url = proxy ? database.url.replace(/:\d+\//, `:${proxy.port}/`) : database.url;
  const gateway = await startGateway({
    env: { DATABASE_URL: url, SHUTDOWN_SECONDS: String(SHUTDOWN_SECONDS), ...env },
    ...(nodeArgs ? { nodeArgs } : {}),
  });
  try {
    await work(gateway, await createTenant(url), proxy);
  } finally {
    await gateway.kill('SIGKILL');
    await proxy?.stop();
    await database.remove();
  }
}

/** Polls `/readyz` on new connections until the process accepts no more; returns the statuses. */
async function readinessUntilClosed(gateway: GatewayProcess): Promise<number[]> {
  const statuses: number[] = [];
  const isClosed = () =>
    fetch(`${gateway.url}/readyz`, { headers: { connection: 'close' } }).then(
      ({ status }) => {
        statuses.push(status);
        return false;
      },
      () => true,
    );
  await eventually('closed', isClosed);
  return statuses;
}

/** Sends half of a POST and waits until it is read; the returned function sends the rest and returns the answer. */
async function beginPost({ port }: GatewayProcess, token: string): Promise<() => Promise<string>> {
  const body = '{"name":"Late","categoryId":1}';
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  let answer = '';
  socket.on('data', (text) => {
    answer += text;
  });
  const head = [
    'POST /v1/toys HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'Expect: 100-continue',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, 5)}`);
  await eventually('100 Continue', () => answer.includes('100 Continue'));
  return async () => {
    socket.write(body.slice(5));
    await once(socket, 'close');
    return answer;
  };
}

async function endsWithin(gateway: GatewayProcess, ms: number) {
  const startedAt = performance.now();
  const ending = await gateway.ended;
  expect(performance.now() - startedAt).toBeLessThan(ms);
  return ending;
}

test('Reliability-3: SIGTERM under 40 kept-alive clients fails no request on a reused connection, and ends with 0 in time', () =>
  withGateway({}, async (gateway, token) => {
    const habits = Array.from({ length: KEPT_ALIVE }, (_, index): Habit => (index % 4 ? 'read' : 'create'));
    const load = new ToyLoad(gateway.url, token, habits);
    await eventually('all clients at work', () => load.answers.length >= 5 * KEPT_ALIVE, 20_000);
    const toldAt = performance.now();
    await gateway.kill('SIGTERM');
    const [statuses, ending] = await Promise.all([
      readinessUntilClosed(gateway),
      endsWithin(gateway, SHUTDOWN_SECONDS * 1000),
    ]);
    load.abandon();
    await load.settle();

    expect(ending).toEqual({ code: 0, signal: null });
    expect(load.failures.filter(({ reused }) => reused)).toEqual([]);
    const draining = load.answers.filter(({ sentAt }) => sentAt > toldAt + 500);
    expect(draining.length).toBeGreaterThan(KEPT_ALIVE);
    expect(draining.filter(({ headers }) => headers.connection !== 'close')).toEqual([]);
    expect(load.answers.filter(({ code }) => code !== null)).toEqual([]);
    // Load balancers see 503 before the port is closed.
    expect(statuses).toContain(503);
    expect(statuses.slice(statuses.indexOf(503))).not.toContain(200);
  }));

test('Reliability-13: an in-flight request at SIGTERM is answered, even after the port is closed', () =>
  withGateway({}, async (gateway, token) => {
    const finish = await beginPost(gateway, token);
    await gateway.kill('SIGTERM');
    await readinessUntilClosed(gateway);
    expect(await finish()).toMatch(/HTTP\/1\.1 201 Created\r\n(.*\r\n)*connection: close\r\n/i);
    expect(await endsWithin(gateway, SHUTDOWN_SECONDS * 1000)).toEqual({ code: 0, signal: null });
  }));

testOnMysql.each(['while requests wait for it', 'while no request is in flight'])(
  'Reliability-14: SIGTERM ends with 0 in time although the database is silent, %s',
  (when) =>
    withGateway({ proxied: true }, async (gateway, token, proxy) => {
      const load = new ToyLoad(gateway.url, token, ['create', 'read', 'create', 'read']);
      try {
        await eventually('at work', () => load.acknowledged.size >= 10);
        if (when === 'while no request is in flight') await load.settle();
        await proxy?.set('black hole');
        await gateway.kill('SIGTERM');
        expect(await endsWithin(gateway, SHUTDOWN_SECONDS * 1000)).toEqual({ code: 0, signal: null });
      } finally {
        load.abandon();
        await load.settle();
      }
    }),
);

test('Reliability-15: SIGINT ends an idle process in less than 1.5 s, with kept-alive connections or without', () =>
  withGateway({}, async (gateway, token) => {
    const client = new KeepAliveClient(gateway.url, token);
    await client.send('/v1/toys');
    await gateway.kill('SIGINT');
    expect(await endsWithin(gateway, 1_500)).toEqual({ code: 0, signal: null });
    client.close();
  }));

test('Reliability-16: a second signal ends a draining process at once', () =>
  withGateway({}, async (gateway) => {
    await gateway.kill('SIGTERM');
    await eventually('draining', async () => (await fetch(`${gateway.url}/readyz`)).status === 503);
    await gateway.kill('SIGTERM');
    expect((await endsWithin(gateway, 1_000)).code).toBe(1);
  }));

test.each([
  [
    'json',
    /"reason":"SIGINT","requestsInFlight":1,"openStreams":0,"withinSeconds":5,"msg":"shutting down"}$/m,
    /"completed":1,"unanswered":0,"completedSinceStart":2,"seconds":\d+(\.\d)?,"msg":"stopped"}$/m,
  ],
  [
    'text',
    /^\S+ shutting down reason=SIGINT requestsInFlight=1 openStreams=0 withinSeconds=5$/m,
    /^\S+ stopped completed=1 unanswered=0 completedSinceStart=2 seconds=\d+(\.\d)?$/m,
  ],
])(
  'Reliability-19: the log says why the process ends, and at last how many requests were completed: %s',
  (LOG_FORMAT, first, last) =>
    withGateway({ env: { LOG_FORMAT, LOG_LEVEL: 'info' } }, async (gateway, token) => {
      const client = new KeepAliveClient(gateway.url, token);
      await client.send('/v1/toys');
      client.close();
      const finish = await beginPost(gateway, token);
      await gateway.kill('SIGINT');
      await eventually('told', () => first.test(gateway.output()));
      expect(await finish()).toContain('HTTP/1.1 201 Created');
      expect(await endsWithin(gateway, SHUTDOWN_SECONDS * 1000)).toEqual({ code: 0, signal: null });
      expect(gateway.output().trimEnd().split('\n').at(-1)).toMatch(last);
    }),
);

test('Reliability-20: npm repeats a Ctrl-C at once, which cuts no request off; a second Ctrl-C does, and says so', () =>
  withGateway({ env: { LOG_LEVEL: 'info' } }, async (gateway, token) => {
    await beginPost(gateway, token);
    await gateway.kill('SIGINT');
    await eventually('told', () => gateway.output().includes('"msg":"shutting down"'));
    await gateway.kill('SIGINT');
    await setTimeout(ANOTHER_PRESS_MS);
    expect(gateway.hasEnded()).toBe(false);
    await gateway.kill('SIGINT');
    expect((await endsWithin(gateway, 1_000)).code).toBe(1);
    expect(gateway.output()).toMatch(/"reason":"second SIGINT","requestsInFlight":1,.*"stopped at once"}\n$/);
  }));

test.each(['Promise.reject(new Error("planted"))', 'setTimeout(() => { throw new Error("planted") })'])(
  'Reliability-8: an unhandled error is logged and drains the process, which ends non-zero: %s',
  (fault) => {
    const plant = `process.on("SIGUSR2", () => { ${fault} })`;
    const nodeArgs = ['--import', `data:text/javascript,${encodeURIComponent(plant)}`];
    return withGateway({ nodeArgs }, async (gateway, token) => {
      const finish = await beginPost(gateway, token);
      await gateway.kill('SIGUSR2');
      await readinessUntilClosed(gateway);
      expect(await finish()).toContain('HTTP/1.1 201 Created');
      expect(await endsWithin(gateway, SHUTDOWN_SECONDS * 1000)).toEqual({ code: 1, signal: null });
      expect(gateway.faults().join()).toContain('planted');
    });
  },
);
