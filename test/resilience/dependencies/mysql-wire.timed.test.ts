import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { createTestDatabase, databaseKinds, type TestDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { createTenant, type GatewayProcess, startGateway } from '../../support/gateway-process.js';
import { type Distortion, type FaultProxy, startFaultProxy } from '../../support/http/fault-proxy.js';
import { type Answered, KeepAliveClient } from '../../support/http/keep-alive-client.js';
import { concurrentOnMysql, testOnMysql } from '../../support/on-databases.js';
import { type Habit, PetLoad } from '../../support/pet-load.js';
import * as wire from '../../support/servers/mysql-distortions.js';

const ANSWERED_WITHIN_MS = 5_000;
const HEALED_WITHIN_MS = 5_000;
const MOST_MEMORY_MB = 150;
const POOL_SIZE = 10;
const HABITS: Habit[] = [
  'create',
  'create with key',
  'create by both doors with key',
  'read',
  'read by GraphQL',
];
const NEW_CONNECTIONS: ReadonlySet<Distortion> = new Set([
  wire.withoutGreeting,
  wire.slowGreeting,
  wire.endlessGreeting,
]);

const FAULTS: [what: string, fault: Distortion][] = [
  ['accepts and sends no greeting', wire.withoutGreeting],
  ['sends its greeting byte by byte', wire.slowGreeting],
  ['sends a greeting without end', wire.endlessGreeting],
  ['answers byte by byte', wire.slowAnswers],
  ['answers with a packet without end', wire.endlessPacket],
  ['answers with rows without end', wire.endlessRows],
  ['answers with a row of 60 MB', wire.hugeRow],
  ['answers with an empty packet', wire.payload([])],
  ['answers with half an error', wire.payload([0xff])],
  ['asks for a local file', wire.payload([0xfb, ...Buffer.from('/etc/passwd')])],
  ['announces 16 million columns', wire.payload([0xfd, 0xff, 0xff, 0xff])],
  ['answers with noise', wire.payload([0x07, 0x9a, 0xfc, 0x01, 0xfe])],
  ['numbers its packets wrongly', wire.wrongSequence],
  ['ends the connection in the middle of each answer', wire.halfAnswers],
  ...[1040, 1047, 1105, 1203, 1205, 1213, 1317, 1615, 3024, 9001].map((code): [string, Distortion] => [
    `answers each statement with error ${code}`,
    wire.refusal(code),
  ]),
];

/** A gateway whose way to its database fails, with its clients. */
interface Rig {
  database: TestDatabase;
  proxy: FaultProxy;
  gateway: GatewayProcess;
  load: PetLoad;
  probe: KeepAliveClient;
  /** Ends when the rig's present fault is over. */
  turn: Promise<void>;
}

/** Two, because most of a fault's time is the wait for a deadline. */
const RIGS = 2;
let rigs: Rig[] = [];
beforeAll(async () => {
  if (!databaseKinds().includes('mysql')) return;
  rigs = await Promise.all(Array.from({ length: RIGS }, startRig));
});
afterAll(() => Promise.all(rigs.map(stopRig)));

async function startRig(): Promise<Rig> {
  const database = await createTestDatabase('mysql');
  const url = new URL(database.url);
  const proxy = await startFaultProxy(Number(url.port));
  url.port = String(proxy.port);
  const env = { DATABASE_URL: url.href };
  const gateway = await startGateway({ env, nodeArgs: ['--max-old-space-size=384'] });
  const probe = new KeepAliveClient(gateway.url, '');
  const load = new PetLoad(gateway.url, await createTenant(database.url), HABITS);
  await eventually('warm', () => load.acknowledged.size >= 200);
  return { database, proxy, gateway, load, probe, turn: Promise.resolve() };
}

async function stopRig({ database, proxy, gateway, load, probe }: Rig): Promise<void> {
  load.abandon();
  probe.close();
  await gateway.kill('SIGKILL');
  await proxy.stop();
  await database.remove();
}

/** Runs the work with the rig after the work that it has already. */
function inTurn(rig: Rig, work: (rig: Rig) => Promise<void>): Promise<void> {
  const done = rig.turn.then(() => work(rig));
  rig.turn = done.catch(() => {});
  return done;
}

concurrentOnMysql.each(FAULTS.map(([what, fault], at) => ({ what, fault, at })))(
  'Attack-mysql-2: a MySQL that $what costs only 503 with Retry-After in 5 s; memory and connections stay bounded',
  ({ fault, at }) => inTurn(rigs[at % RIGS] as Rig, (rig) => endure(rig, fault)),
);

async function endure({ proxy, gateway, load, probe }: Rig, fault: Distortion): Promise<void> {
  // Resets the peak.
  await writeFile(`/proc/${gateway.processId}/clear_refs`, '5');
  const restingMb = await memoryMb(gateway, 'VmRSS');
  const health: Answered[] = [];
  const answeredAllSince = (time: number, isServed: boolean) => async () => {
    health.push(await probe.send('/healthz'));
    const answers = since(load, time).filter(({ code }) => code === null || !isServed);
    return new Set(answers.map(({ habit }) => habit)).size === HABITS.length;
  };
  const beganAt = performance.now();
  if (NEW_CONNECTIONS.has(fault)) await proxy.set('reset');
  await proxy.set(fault);
  await eventually('each habit answered', answeredAllSince(beganAt, false));
  await proxy.set('pass');
  const backAt = performance.now();
  await eventually('each habit served again', answeredAllSince(backAt, true), HEALED_WITHIN_MS);

  const answers = since(load, beganAt);
  const refused = answers.filter(({ code }) => code !== null && code !== 'conflict');
  expect(
    refused.filter(({ status, code, headers }) => status !== 503 || !headers['retry-after'] || !code),
  ).toEqual([]);
  expect(answers.filter(({ text }) => /secret|passwd|ER_|SELECT|mysql/i.test(text))).toEqual([]);
  expect(health.filter(({ status }) => status !== 200)).toEqual([]);
  expect(Math.max(...[...answers, ...health].map(tookMs))).toBeLessThan(ANSWERED_WITHIN_MS);
  expect((await memoryMb(gateway, 'VmHWM')) - restingMb).toBeLessThan(MOST_MEMORY_MB);
  await eventually('no connection is left over', () => proxy.connections <= POOL_SIZE);
  expect(gateway.faults()).toEqual([]);
}

testOnMysql(
  'Attack-mysql-3: a MySQL that prepares again what it has forgotten costs no request',
  async () => {
    const { load, proxy } = rigs[0] as Rig;
    const beganAt = performance.now();
    await proxy.set(wire.forgottenStatements());
    await eventually('answered', () => since(load, beganAt).length >= 100);
    await proxy.set('pass');
    expect(since(load, beganAt).filter(({ status }) => status >= 500)).toEqual([]);
  },
);

testOnMysql(
  'Attack-mysql-4: after all these answers no acknowledged write is missing, and no keyed write is stored twice',
  async () => {
    await Promise.all(rigs.map(({ load }) => load.settle()));
    for (const { load } of rigs) {
      expect(load.failures).toEqual([]);
      expect(await load.findings()).toEqual({ missing: [], duplicate: [] });
    }
  },
);

function since(load: PetLoad, time: number) {
  return load.answers.filter(({ sentAt }) => sentAt > time);
}

function tookMs({ sentAt, answeredAt }: Answered): number {
  return answeredAt - sentAt;
}

/** `VmHWM` is the peak of `VmRSS`. */
async function memoryMb(gateway: GatewayProcess, field: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${gateway.processId}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024;
}
