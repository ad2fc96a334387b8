import { readdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startFaultProxy } from '../test/support/http/fault-proxy.js';
import { freePort } from '../test/support/servers/daemon.js';
import { type Contestant, startGateway } from './contestant.js';
import { startEnvironment } from './environment.js';
import { summary } from './load-job.js';
import { median } from './measure.js';
import { memoryMbOf } from './processes.js';
import { createRequest, everywhere, listRequest } from './requests.js';
import { SoakLoad } from './soak-load.js';

const USAGE = `npm run bench:soak                 30 minutes at half of the peak, with faults; exit 1 if a bound is missed
  --minutes <n>  --rate <n>        its length, at least 4; requests a second`;

/** Redis and MySQL are away in turns, each for 1 % of the time. */
const FAULT_EVERY_MS = 50_000;
const FAULT_MS = 1_000;
const FIRST_RATE = 200;
const RATE_STEP = 1.2;
const STEP_SECONDS = 6;
const LEAST_ANSWERED = 0.95;
const MAX_P99_MS = 250;
/** Timeouts of connections and statements end within this time. */
const REST_SECONDS = 90;
/** A fault lets memory rise for seconds, so a minute counts with the median of many samples. */
const MEMORY_EVERY_MS = 2_000;
const MAX_SLOPE_MB_PER_MINUTE = 1;
const MAX_P99_RATIO = 1.2;

type Mix = ReturnType<typeof listRequest>[];

interface Minute {
  'requests/s': number;
  failed: string;
  'bad clients': number;
  'p99 ms': number;
  'RSS MB': number;
  descriptors: number;
  timers: number;
}

const { values } = parseArgs({
  options: { minutes: { type: 'string' }, rate: { type: 'string' }, help: { type: 'boolean' } },
});
const minutes = Number(values.minutes ?? 30);
if (values.help || !(minutes >= 4)) {
  console.error(USAGE);
  process.exit(values.help ? 0 : 2);
}

const environment = await startEnvironment({ largeRows: 250_000 });
const tenant = await environment.listed();
const redisUrl = await environment.redisUrl();
const proxies = [await proxyOf(redisUrl), await proxyOf(tenant.databaseUrl)] as const;
const [redis, mysql] = proxies;
const metricsPort = await freePort();
const gateway = await startGateway(
  { ...tenant, databaseUrl: through(tenant.databaseUrl, mysql.port) },
  { redisUrl: through(redisUrl, redis.port), env: { METRICS_PORT: String(metricsPort) } },
);
try {
  const mix = [
    listRequest(gateway, 'rest', 'first'),
    listRequest(gateway, 'rest', everywhere(tenant)),
    listRequest(gateway, 'graphql', everywhere(tenant)),
    createRequest(gateway),
  ];
  const rate = Number(values.rate ?? (await peakOf(gateway, mix)) / 2);
  // So that the pool has all its connections before the descriptors are counted.
  await isAnswered(gateway, mix, rate);
  await pause(REST_SECONDS * 1000);
  const before = await stateOf(gateway);
  console.log(
    `${Math.round(rate)} requests a second for ${minutes} minutes; before it ${JSON.stringify(before)}`,
  );
  const rows = await soak(mix, rate);
  await pause(REST_SECONDS * 1000);
  const after = await stateOf(gateway);
  console.log(`${REST_SECONDS} s after the last request: ${JSON.stringify(after)}`);
  process.exitCode = judge(rows, before, after) ? 0 : 1;
} finally {
  await gateway.stop();
  for (const proxy of proxies) await proxy.stop();
  await environment.stop();
}
// Without this Node would wait for the proxies' connections.
process.exit();

async function soak(mix: Mix, rate: number): Promise<Minute[]> {
  const load = new SoakLoad(gateway.origin, mix, rate);
  const faults = injectFaults();
  let memoryMb: number[] = [];
  const sampler = setInterval(() => memoryMb.push(rssMbOf(gateway)), MEMORY_EVERY_MS);
  const rows: Minute[] = [];
  const startedAt = performance.now();
  for (let minute = 1; minute <= minutes; minute += 1) {
    await pause(startedAt + minute * 60_000 - performance.now());
    const { latenciesMs, failures, badClients } = load.takeSeen();
    const { requestsPerSecond, p99Ms } = summary(latenciesMs, 60);
    const row = {
      'requests/s': Math.round(requestsPerSecond),
      failed: [...failures].map(([reason, count]) => `${reason}: ${count}`).join(', '),
      'bad clients': badClients,
      'p99 ms': Math.round(p99Ms * 10) / 10,
      ...(await stateOf(gateway)),
      'RSS MB': median(memoryMb),
    };
    memoryMb = [];
    rows.push(row);
    console.log(JSON.stringify({ minute, ...row }));
  }
  clearInterval(sampler);
  faults.stop();
  await load.stop();
  console.table(rows);
  return rows;
}

function injectFaults() {
  let turn = 0;
  const timer = setInterval(async () => {
    const proxy = proxies[turn % 2];
    const fault = (['reset', 'black hole', 'refuse', 'half-open'] as const)[Math.floor(turn / 2) % 4];
    turn += 1;
    await proxy?.set(fault ?? 'reset');
    await pause(FAULT_MS);
    await proxy?.set('pass');
  }, FAULT_EVERY_MS);
  return { stop: () => clearInterval(timer) };
}

/** Whether all bounds are kept; prints each. */
function judge(rows: readonly Minute[], before: State, after: State): boolean {
  const late = rows.slice(Math.min(10, Math.floor(rows.length / 3)));
  const few = Math.min(5, Math.floor(rows.length / 2));
  const p99 = (some: readonly Minute[]) => median(some.map((row) => row['p99 ms']));
  const slope = slopeOf(late.map((row) => row['RSS MB']));
  const ratio = p99(rows.slice(-few)) / p99(rows.slice(0, few));
  const bounds = [
    [`memory grows by ${slope.toFixed(2)} MB a minute`, slope < MAX_SLOPE_MB_PER_MINUTE],
    [`p99 of the last ${few} minutes is ${ratio.toFixed(2)} × that of the first`, ratio <= MAX_P99_RATIO],
    [
      `${after.descriptors - before.descriptors} descriptors more than before`,
      after.descriptors <= before.descriptors,
    ],
    [`${after.timers - before.timers} timers more than before`, after.timers <= before.timers],
  ] as const;
  for (const [text, isKept] of bounds) console.log(`${isKept ? 'kept' : 'MISSED'}: ${text}`);
  return bounds.every(([, isKept]) => isKept);
}

interface State {
  'RSS MB': number;
  descriptors: number;
  timers: number;
}

function rssMbOf({ processId }: Contestant): number {
  return Math.round(memoryMbOf(processId, 'VmRSS') ?? Number.NaN);
}

async function stateOf(contestant: Contestant): Promise<State> {
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const [, timers] = /^nodejs_active_resources\{type="Timeout"\} (\d+)/m.exec(metrics) ?? [];
  return {
    'RSS MB': rssMbOf(contestant),
    descriptors: readdirSync(`/proc/${contestant.processId}/fd`).length,
    // The metric has no series for a kind that does not exist now.
    timers: Number(timers ?? 0),
  };
}

/**
 * The largest rate of the mix that the gateway answers in time. Each pet that is created makes the kept lists stale, so
 * the peaks of single requests say little.
 */
async function peakOf(contestant: Contestant, mix: Mix): Promise<number> {
  // To warm up, whatever it answers.
  await isAnswered(contestant, mix, FIRST_RATE);
  let peak = FIRST_RATE;
  while (await isAnswered(contestant, mix, peak * RATE_STEP)) peak *= RATE_STEP;
  return peak;
}

async function isAnswered({ origin }: Contestant, mix: Mix, rate: number): Promise<boolean> {
  const load = new SoakLoad(origin, mix, rate);
  await pause(STEP_SECONDS * 1000);
  const { latenciesMs } = load.takeSeen();
  await load.stop();
  const { requestsPerSecond, p99Ms } = summary(latenciesMs, STEP_SECONDS);
  return requestsPerSecond >= LEAST_ANSWERED * rate && p99Ms <= MAX_P99_MS;
}

function proxyOf(url: string) {
  return startFaultProxy(Number(new URL(url).port));
}

function through(url: string, port: number): string {
  const changed = new URL(url);
  changed.port = String(port);
  return changed.href;
}

/** Least squares, in units of a step. */
function slopeOf(values: readonly number[]): number {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  let [above, below] = [0, 0];
  for (const [at, value] of values.entries()) {
    above += (at - middle) * (value - mean);
    below += (at - middle) ** 2;
  }
  return above / below;
}
