import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { SYSTEM_CLOCK } from '../../client/pause.js';
import { toysClient } from '../support/client/toys-client.js';
import { petstoreHere } from '../support/command-line.js';
import { type GatewayProcess, startGateway } from '../support/gateway-process.js';
import { freePort } from '../support/servers/daemon.js';

const MINUTE_MS = 60_000;
const PER_MINUTE = 300;
/** Programs with a key in common, which do not know of each other. */
const PROGRAMS = 3;
const CALLS_AT_ONCE = 10;
/** In a minute. */
const MOST_REFUSED = 3 * PROGRAMS;
/** Enough to spend the quota of a minute. */
const SPENDING_MS = 25_000;

let folder: string;
let gateway: GatewayProcess;
let key: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'petstore-quota-'));
  const databaseUrl = `sqlite:${join(folder, 'petstore.sqlite')}`;
  gateway = await startGateway({
    env: { DATABASE_URL: databaseUrl, DEMO: '0', PORT: String(await freePort()) },
  });
  const petstore = (...args: string[]) => petstoreHere([...args, '--json'], { databaseUrl });
  const quota = ['--per-minute', String(PER_MINUTE), '--per-day', '100000'];
  await petstore('projects', 'create', 'shop', '--plan', 'enterprise', ...quota);
  key = (await petstore('keys', 'create', 'shop')).json.key;
});
afterAll(async () => {
  await gateway?.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

test('Client-18: in real time, three programs that ask without a pause use 99 % of each minute and more, without a strike', async () => {
  const leftMs = MINUTE_MS - (Date.now() % MINUTE_MS);
  if (leftMs < SPENDING_MS) await sleep(leftMs);
  const firstMinute = Math.floor(Date.now() / MINUTE_MS);
  const endMs = (firstMinute + 1) * MINUTE_MS + SPENDING_MS;
  const statuses: Record<number, number> = {};
  const counted = async (url: string, init: RequestInit) => {
    const response = await fetch(url, init);
    statuses[response.status] = (statuses[response.status] ?? 0) + 1;
    return response;
  };
  const stop = new AbortController();
  const program = async () => {
    // Each has its own clock, and so its own gate.
    const api = toysClient(gateway.url, key, { fetch: counted, clock: { ...SYSTEM_CLOCK } });
    const ask = async () => {
      while (!stop.signal.aborted) await api.toys.list({ limit: 1 }, { signal: stop.signal }).catch(() => {});
    };
    await Promise.all(Array.from({ length: CALLS_AT_ONCE }, ask));
  };
  const programs = Promise.all(Array.from({ length: PROGRAMS }, program));
  await sleep(endMs - Date.now());
  stop.abort();
  await programs;
  expect(statuses[200]).toBeGreaterThanOrEqual(0.99 * 2 * PER_MINUTE);
  expect(statuses[200]).toBeLessThanOrEqual(2 * PER_MINUTE);
  // Each of them can be surprised by what the others have spent.
  expect(statuses[429] ?? 0).toBeLessThanOrEqual(2 * MOST_REFUSED);
  const { ban } = await toysClient(gateway.url, key).getRateLimit();
  expect(ban).toMatchObject({ strikes: 0, untilSeconds: null });
});
