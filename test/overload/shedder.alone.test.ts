import { once } from 'node:events';
import { createServer, IncomingMessage, type RequestListener, type Server, ServerResponse } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Shedder, type ShedPlan } from '../../src/request/overload/shedder.js';
import { PLAN_NAMES, type Plan } from '../../src/tenants/projects/plans.js';
import { RawClient } from '../support/attacks/raw-client.js';
import { RequestFlood } from '../support/attacks/request-flood.js';
import { eventually } from '../support/eventually.js';

/** The service under the limit: it answers this many requests at once, each after `SERVICE_MS`. */
const SERVERS = 10;
const SERVICE_MS = 20;
const CONNECTIONS = 60;

let server: Server;
let shedder: Shedder;
let url: string;
let shed: Partial<Record<ShedPlan, number>>;
let limits: (number | null)[];
let floods: RequestFlood[];
let hasProxies: boolean;
/** Requests that wait in the service. */
let queued: () => number;
beforeEach(async () => {
  hasProxies = true;
  shed = {};
  limits = [];
  floods = [];
  const waiting: (() => void)[] = [];
  queued = () => waiting.length;
  let busy = 0;
  const serveNext = () => {
    const next = busy < SERVERS ? waiting.shift() : undefined;
    if (!next) return;
    busy += 1;
    setTimeout(() => {
      busy -= 1;
      next();
      serveNext();
    }, SERVICE_MS);
  };
  const handler: RequestListener = (_, response) => {
    waiting.push(() => response.end('served'));
    serveNext();
  };
  shedder = new Shedder({
    // The path names the plan and the project: /FREE/1
    tenantOf: ({ url: path = '' }) => {
      const [, plan, projectId] = /^\/([A-Z]+)\/(\d+)$/.exec(path) ?? [];
      return plan && projectId ? { plan: plan as Plan, projectId: BigInt(projectId) } : null;
    },
    queuedStatements: () => waiting.length,
    graphqlBody: String,
    originHeaders: () => ({}),
    onShed: (counts, limit) => {
      limits.push(limit);
      for (const [plan, requests] of Object.entries(counts) as [ShedPlan, number][]) {
        shed[plan] = (shed[plan] ?? 0) + requests;
      }
    },
    get hasProxies() {
      return hasProxies;
    },
  });
  server = createServer(shedder.guard(handler)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  await Promise.all(floods.map((flood) => flood.stop()));
  shedder.stop();
  server.closeAllConnections();
  server.close();
});

function flood(path: string, connections = CONNECTIONS, betweenMs = 30): RequestFlood {
  const started = new RequestFlood(url, { connections, betweenMs, ask: () => ({ path }) });
  floods.push(started);
  return started;
}

const overload = () => eventually('overloaded', async () => limits.some((limit) => limit !== null), 20_000);
const servedPart = ({ answers, answered }: RequestFlood) => (answers.get(200) ?? 0) / answered;

test('Overload-12: of projects that want the same, FREE is shed before PRO before BUSINESS before ENTERPRISE', async () => {
  const byPlan = PLAN_NAMES.map((plan, at) => flood(`/${plan}/${at + 1}`));
  await overload();
  for (const { answers } of byPlan) answers.clear();
  await pause(3_000);
  const [free = 1, pro = 1, business = 1, enterprise = 1] = byPlan.map(servedPart);
  // Neighbouring plans may swap on a machine that is too slow to press all the time.
  expect(free).toBeLessThan(business);
  expect(pro).toBeLessThan(enterprise);
  expect(free).toBeGreaterThan(0);
});

test("Overload-13: one project's flood is shed before its neighbours, also those of a lower plan", async () => {
  const flooding = flood('/ENTERPRISE/1', 4 * CONNECTIONS);
  await overload();
  flooding.answers.clear();
  const neighbours = [flood('/FREE/2', 1), flood('/BUSINESS/3', 2), flood('/FREE/4', 1)];
  await eventually('answered', async () => neighbours.every(({ answered }) => answered >= 20), 60_000);
  // In the moment when the limit falls, the flood may already use a neighbour's part of it.
  for (const neighbour of neighbours) expect(servedPart(neighbour)).toBeGreaterThanOrEqual(0.9);
  expect(servedPart(flooding)).toBeLessThan(0.6);
});

test('Overload-26: a flood that ignores Retry-After gets no more refusals than the process can afford', async () => {
  hasProxies = false;
  flood('/FREE/1', 4 * CONNECTIONS, 0);
  await overload();
  const refused = () => shed.FREE ?? 0;
  const before = refused();
  const startedAtMs = performance.now();
  await pause(3_000);
  const seconds = (performance.now() - startedAtMs) / 1000;
  // Each connection may rest for a second at most, and its first refusal of the three seconds costs no rest.
  expect(refused() - before).toBeLessThan(4 * CONNECTIONS * (seconds + 1));
});

test('Overload-27: a request keeps its place while it causes work, also when its client has disconnected', async () => {
  flood('/ENTERPRISE/1', 4 * CONNECTIONS);
  await overload();
  const port = Number(new URL(url).port);
  let most = 0;
  for (let turn = 0; turn < 40; turn += 1) {
    const clients = await Promise.all(Array.from({ length: 20 }, () => RawClient.open({ port })));
    for (const client of clients) client.send('GET /ENTERPRISE/2 HTTP/1.1\r\nHost: x\r\n\r\n');
    await pause(10);
    for (const client of clients) client.leave();
    if (turn >= 10) most = Math.max(most, queued());
  }
  expect(most).toBeLessThan(200);
});

test('Overload-14: requests without a known key still get a few places, so that their keys become known', async () => {
  flood('/ENTERPRISE/1', 4 * CONNECTIONS);
  const strangers = flood('/', 60);
  await overload();
  strangers.answers.clear();
  await pause(2_000);
  expect(strangers.answers.get(200)).toBeGreaterThan(10);
  expect(servedPart(strangers)).toBeLessThan(0.5);
});

test('Overload-15: health checks are never refused, and the limit ends two seconds after the flood', async () => {
  const busy = flood('/ENTERPRISE/1', 4 * CONNECTIONS);
  await overload();
  for (const path of ['/healthz', '/readyz?x', '/.well-known/acme-challenge/x']) {
    expect((await fetch(`${url}${path}`)).status).toBe(200);
  }
  await busy.stop();
  const endedAtMs = performance.now();
  const others = flood('/FREE/9', 2);
  await eventually('calm', async () => limits.at(-1) === null, 10_000);
  expect(performance.now() - endedAtMs).toBeLessThan(2_500);
  expect(servedPart(others)).toBe(1);
});

/** Hands requests to the shedder in one turn of the event loop. Returns the paths that it admits, in their order. */
async function admittedOf(paths: readonly string[]): Promise<string[]> {
  const admitted: string[] = [];
  const listener = shedder.guard(({ url: path = '' }) => admitted.push(path));
  for (const path of paths) {
    const request = Object.assign(new IncomingMessage(new Socket()), { url: path });
    listener(request, new ServerResponse(request));
  }
  await pause(1);
  return admitted;
}

test('Overload-34: of the requests of one turn the most important ones begin first, whatever came first', async () => {
  const busy = flood('/ENTERPRISE/1', 4 * CONNECTIONS);
  await overload();
  await busy.stop();
  await eventually('answered', async () => queued() === 0);
  const turn = ['FREE', 'ENTERPRISE'].flatMap((plan, at) =>
    Array.from({ length: 300 }, () => `/${plan}/${at + 7}`),
  );
  const admitted = await admittedOf(turn);
  expect(admitted[0]).toBe('/ENTERPRISE/8');
  expect(admitted.length).toBeLessThan(turn.length);
  const ofFree = admitted.filter((path) => path === '/FREE/7').length;
  expect(ofFree).toBeGreaterThan(0);
  expect(ofFree).toBeLessThan(admitted.length / 4);
});

test('Overload-35: no health check is refused, however many arrive in one turn', async () => {
  flood('/ENTERPRISE/1', 4 * CONNECTIONS);
  await overload();
  const checks = Array.from({ length: 300 }, () => '/healthz');
  expect(await admittedOf(checks)).toEqual(checks);
});
