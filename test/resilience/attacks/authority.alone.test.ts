import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { In } from 'typeorm';
import { Domain } from '../../../src/domains/store/domain.entity.js';
import { loadConfig } from '../../../src/ground/config/config.js';
import { Database } from '../../../src/ground/database/database.js';
import { type AttackedGateway, startAttackedGateway } from '../../support/attacks/attacked-gateway.js';
import type { Behaviour } from '../../support/attacks/hostile-authority.js';
import {
  ownerOf,
  PLATFORM_HOST,
  type Surroundings,
  startSurroundings,
} from '../../support/domains/domain-rig.js';
import { eventually } from '../../support/eventually.js';
import { createServices, DATABASE_SCHEMA, SCOPES } from '../../support/gateway/tested-gateway.js';
import { KeepAliveClient } from '../../support/http/keep-alive-client.js';
import { slowness } from '../../support/own-time.js';
import { freePort } from '../../support/servers/daemon.js';

/** `hostile-authority.ts` says what each kind is. */
const ENDING =
  'announces pieces crumbles switches floods floodshead halfcloses wrongnonces redirects chains hugechain';
/** Until the deadline of a call, 10 s, or of the order, 60 s. */
const LASTING = 'silent drips dripshead nests arrays authorizes';
/** The reason of an order that ended at a deadline. */
const BY_DEADLINE = /within \d+ ms/;
const WINDOW_MS = 3_000;
/** Six of a project, of 20 of the process. */
const ORDERS_OF_A_PROJECT = 6;
const ATTACKERS = 3;
const HEALTH_MS = 20;

type Owner = ReturnType<typeof ownerOf>;
let around: Surroundings;
let authority: ChildProcess;
let attacked: AttackedGateway;
let db: Database;
let attackers: Owner[];
let good: Owner;
// A retry needs other names.
let hosts = 0;
beforeAll(async () => {
  const httpPort = await freePort();
  around = await startSurroundings(httpPort);
  authority = fork(resolve('dist/test/support/attacks/hostile-authority.js'));
  authority.send({ tls: around.pebble.tls, port: around.pebble.port });
  const [ACME_DIRECTORY_URL] = await once(authority, 'message');
  const ports = { PORT: String(httpPort), HTTPS_PORT: String(await freePort()) };
  attacked = await startAttackedGateway({ env: { ...around.env, ...ports, ACME_DIRECTORY_URL } });
  db = await Database.open(loadConfig({ DATABASE_URL: attacked.databaseUrl }).database, DATABASE_SCHEMA);
  [good, ...attackers] = (await Promise.all(Array.from({ length: 1 + ATTACKERS }, newOwner))) as [Owner];
  // The first order loads code and makes the account.
  await certified();
});
afterAll(async () => {
  authority?.disconnect();
  await db?.close();
  await attacked?.stop();
  await around?.stop();
});

async function newOwner(_: unknown, index: number): Promise<Owner> {
  const { projects, apiKeys } = createServices(db, Date.now);
  const actor = { name: 'test', requestId: null };
  const quotas = { plan: 'ENTERPRISE', perMinute: 1_000_000, perDay: 1_000_000 } as const;
  const { id } = await projects.create(actor, { slug: `owner-${index}`, name: null, ...quotas });
  await projects.publish(actor, id);
  const wanted = { projectId: id, name: 'test', scopes: SCOPES, expiresAtMs: null };
  return ownerOf(attacked.gateway, await apiKeys.create(actor, wanted));
}

/** Adds a host whose DNS points here from now on; returns its verification. */
async function add(owner: Owner, kind: string): Promise<{ id: string; verify(): Promise<unknown> }> {
  hosts += 1;
  const hostname = `shop.${kind}-${hosts}.test`;
  around.dns.zone(hostname.slice('shop.'.length));
  const { id } = await owner.add(hostname);
  around.dns.set(hostname, 'CNAME', PLATFORM_HOST);
  // A busy machine answers some with 503.
  const isVerified = async () => !/DNS/.test((await owner.verify(id)).status);
  return { id, verify: () => eventually(`${hostname} is verified`, isVerified, 30_000, 200) };
}

/** Returns the time from right DNS to the certificate. */
async function certified(): Promise<number> {
  const { id, verify } = await add(good, 'good');
  const startedMs = performance.now();
  await verify();
  await good.become(id, 'ACTIVE', 30_000);
  return performance.now() - startedMs;
}

/** Adds hosts of the attackers, orders their certificates at once, and returns the rows of these domains on demand. */
async function attack(kinds: string[]): Promise<() => Promise<Domain[]>> {
  const added = kinds.map((kind, index) => add(attackers[index % ATTACKERS] as Owner, kind));
  const domains = await Promise.all(added);
  be('hostile');
  await Promise.all(domains.map(({ verify }) => verify()));
  const ids = domains.map(({ id }) => BigInt(id));
  return () => db.repository(Domain).findBy({ id: In(ids) });
}

function be(behaviour: Behaviour): void {
  authority.send(behaviour);
}

/** Measures memory and answer times of the gateway until the returned function is called. */
async function watch() {
  const { gateway, neighbour, memoryMb } = attacked;
  const health = new KeepAliveClient(gateway.url, '');
  const [beforeMb, delaysMs] = [await memoryMb(), [] as number[]];
  let [mostMb, isOver] = [beforeMb, false];
  const watching = (async () => {
    while (!isOver) {
      const answer = await health.send('/healthz').catch(() => null);
      if (answer === null) return;
      delaysMs.push(answer.answeredAt - answer.sentAt);
      mostMb = Math.max(mostMb, await memoryMb());
      await pause(HEALTH_MS);
    }
  })();
  neighbour.startOver();
  return async () => {
    isOver = true;
    await watching;
    health.close();
    const [slowestMs, grewMb, p99Ms] = [Math.max(...delaysMs), mostMb - beforeMb, neighbour.p99Ms()];
    return { slowestMs, grewMb, p99Ms, failures: neighbour.failures() };
  };
}

async function expectUnharmed(found: Awaited<ReturnType<Awaited<ReturnType<typeof watch>>>>): Promise<void> {
  const slow = await slowness();
  if (process.env.PRINT_FIGURES) console.log(slow, found);
  expect(found.failures).toEqual([]);
  expect(found.grewMb).toBeLessThan(100);
  expect(found.p99Ms).toBeLessThan(250 * slow);
  expect(attacked.gateway.faults()).toEqual([]);
  expect(attacked.gateway.hasEnded()).toBe(false);
}

test('Attack-60: answers of an authority without end, sense or size end their orders, and delay no other request', async () => {
  const kinds = ENDING.split(' ');
  const stop = await watch();
  const rows = await attack(kinds);
  await eventually(
    'the end of every order',
    async () => {
      const open = (await rows()).filter(({ failedOrders }) => failedOrders === 0);
      if (open.length > 0) throw new Error(open.map(({ hostname }) => hostname).join());
      return true;
    },
    60_000,
    100,
  );
  const causes = (await rows()).map(({ orderDiagnoses: [found] }) => found?.cause);
  expect(causes.filter((cause) => cause === undefined || BY_DEADLINE.test(cause))).toEqual([]);
  be('good');
  await expectUnharmed(await stop());
});

test('Attack-62: while the orders of three projects hang at an authority, other requests and orders go on', async () => {
  const kinds = LASTING.split(' ');
  const orders = ATTACKERS * ORDERS_OF_A_PROJECT;
  const stop = await watch();
  const rows = await attack(
    Array.from({ length: orders }, (_, index) => kinds[index % kinds.length] as string),
  );
  const underWay = async () => (await rows()).filter(({ orderState }) => orderState === 'ORDERING').length;
  // On a busy machine the first reach the deadline of a call before the last begin.
  await eventually('orders under way', async () => (await underWay()) > 0.6 * orders);
  await pause(WINDOW_MS);
  const duringMs = await certified();
  const overlapping = await underWay();
  be('good');
  const afterMs = await certified();
  if (process.env.PRINT_FIGURES) console.log({ duringMs, afterMs, overlapping });
  await expectUnharmed(await stop());
});
