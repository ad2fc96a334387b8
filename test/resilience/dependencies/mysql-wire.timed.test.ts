import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, expect } from '@jest/globals';
import { createTestDatabase, databaseKinds, type TestDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { createTenant, type GatewayProcess, startGateway } from '../../support/gateway-process.js';
import { type Distortion, type FaultProxy, startFaultProxy } from '../../support/http/fault-proxy.js';
import { type Answered, KeepAliveClient } from '../../support/http/keep-alive-client.js';
import { testOnMysql as test } from '../../support/on-databases.js';
import * as wire from '../../support/servers/mysql-distortions.js';
import { type Habit, ToyLoad } from '../../support/toy-load.js';

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

let database: TestDatabase;
let proxy: FaultProxy;
let gateway: GatewayProcess;
let load: ToyLoad;
const loads: ToyLoad[] = [];
let isSettled = false;
let probe: KeepAliveClient;
beforeAll(async () => {
  if (!databaseKinds().includes('mysql')) return;
  database = await createTestDatabase('mysql');
  const url = new URL(database.url);
  proxy = await startFaultProxy(Number(url.port));
  url.port = String(proxy.port);
  gateway = await startGateway({ env: { DATABASE_URL: url.href }, nodeArgs: ['--max-old-space-size=384'] });
  probe = new KeepAliveClient(gateway.url, '');
  await startLoad();
});
// A retry runs after the last test, which ends the load.
beforeEach(async () => {
  if (isSettled) await startLoad();
});
afterAll(async () => {
  if (!databaseKinds().includes('mysql')) return;
  load.abandon();
  probe.close();
  await gateway.kill('SIGKILL');
  await proxy.stop();
  await database.remove();
});

async function startLoad(): Promise<void> {
  load = new ToyLoad(gateway.url, await createTenant(database.url), HABITS);
  loads.push(load);
  isSettled = false;
  await eventually('warm', () => load.acknowledged.size >= 200);
}

test.each(FAULTS)(
  'Attack-mysql-2: a MySQL that %s costs only 503 with Retry-After in 5 s; memory and connections stay bounded',
  async (_, fault) => {
    // Resets the peak.
    await writeFile(`/proc/${gateway.processId}/clear_refs`, '5');
    const restingMb = await memoryMb('VmRSS');
    const health: Answered[] = [];
    const answeredAllSince = (time: number, isServed: boolean) => async () => {
      health.push(await probe.send('/healthz'));
      const answers = since(time).filter(({ code }) => code === null || !isServed);
      return new Set(answers.map(({ habit }) => habit)).size === HABITS.length;
    };
    const beganAt = performance.now();
    if (NEW_CONNECTIONS.has(fault)) await proxy.set('reset');
    await proxy.set(fault);
    await eventually('each habit answered', answeredAllSince(beganAt, false));
    await proxy.set('pass');
    const backAt = performance.now();
    await eventually('each habit served again', answeredAllSince(backAt, true), HEALED_WITHIN_MS);

    const answers = since(beganAt);
    const refused = answers.filter(({ code }) => code !== null && code !== 'conflict');
    expect(
      refused.filter(({ status, code, headers }) => status !== 503 || !headers['retry-after'] || !code),
    ).toEqual([]);
    expect(answers.filter(({ text }) => /secret|passwd|ER_|SELECT|mysql/i.test(text))).toEqual([]);
    expect(health.filter(({ status }) => status !== 200)).toEqual([]);
    expect(Math.max(...[...answers, ...health].map(tookMs))).toBeLessThan(ANSWERED_WITHIN_MS);
    expect((await memoryMb('VmHWM')) - restingMb).toBeLessThan(MOST_MEMORY_MB);
    await eventually('no connection is left over', () => proxy.connections <= POOL_SIZE);
    expect(gateway.faults()).toEqual([]);
  },
);

test('Attack-mysql-3: a MySQL that prepares again what it has forgotten costs no request', async () => {
  const beganAt = performance.now();
  await proxy.set(wire.forgottenStatements());
  await eventually('answered', () => since(beganAt).length >= 100);
  await proxy.set('pass');
  expect(since(beganAt).filter(({ status }) => status >= 500)).toEqual([]);
});

test('Attack-mysql-4: after all these answers no acknowledged write is missing, and no keyed write is stored twice', async () => {
  isSettled = true;
  for (const each of loads) {
    await each.settle();
    expect(each.failures).toEqual([]);
    expect(await each.findings()).toEqual({ missing: [], duplicate: [] });
  }
});

function since(time: number) {
  return load.answers.filter(({ sentAt }) => sentAt > time);
}

function tookMs({ sentAt, answeredAt }: Answered): number {
  return answeredAt - sentAt;
}

/** `VmHWM` is the peak of `VmRSS`. */
async function memoryMb(field: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${gateway.processId}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024;
}
