import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { type Contestant, startGateway } from './contestant.js';
import type { Tenant } from './dataset.js';
import { startEnvironment } from './environment.js';
import { type FloodJob, type FloodResult, LATE_MS } from './flood-job.js';
import { generateLoad } from './load-generator.js';
import { memoryMbOf, OTHER_CORE, spawnPinned } from './processes.js';
import { everywhere, listRequest } from './requests.js';

const USAGE = `npm run bench:overload             floods of 3 and 10 times the capacity, without and with the limit
  --seconds <n>                    length of each flood, 2 to 40`;

/** Lists from the database, none of them twice. Fewer connections than an overload has. */
const PEAK_CONNECTIONS = 64;
const PEAK_SECONDS = 5;
const FLOOD_CONNECTIONS = 2_000;
/** Nearly the quota of the plan. */
const STEADY = { requestsPerSecond: 15, connections: 50 };
const SETTLE_SECONDS = 3;
const CALM_SECONDS = 5;
const LEAST_SERVED = 0.99;
const MAX_RECOVERY_SECONDS = 2;
/** `goal`: the part of the peak that is answered; null = the quota refuses nearly all of the flood. */
const FLOODS = [
  { plan: 'ENTERPRISE', factor: 3, goal: 0.9 },
  { plan: 'ENTERPRISE', factor: 10, goal: 0.8 },
  { plan: 'FREE', factor: 10, goal: null },
] as const;

type Flood = (typeof FLOODS)[number];

const { values } = parseArgs({ options: { seconds: { type: 'string' }, help: { type: 'boolean' } } });
const seconds = Number(values.seconds ?? 20);
if (values.help || !(seconds >= 2 && seconds <= 40)) {
  console.error(USAGE);
  process.exit(values.help ? 0 : 2);
}

interface Bound {
  text: string;
  isKept: boolean;
}

const environment = await startEnvironment({ largeRows: 250_000 });
try {
  const bounds: Bound[] = [];
  const rows: object[] = [];
  for (const flood of FLOODS) {
    for (const mode of ['off', 'on'] as const) {
      const measured = await measure(flood, mode);
      const row = { flood: nameOf(flood), OVERLOAD: mode, ...rowOf(measured) };
      rows.push(row);
      console.log(JSON.stringify(row));
      if (mode === 'on') bounds.push(...boundsOf(flood, measured));
    }
  }
  console.table(rows);
  for (const { text, isKept } of bounds) console.log(`${isKept ? 'kept' : 'MISSED'}: ${text}`);
  process.exitCode = bounds.every(({ isKept }) => isKept) ? 0 : 1;
} finally {
  await environment.stop();
}
// Without this Node would wait for the load generator.
process.exit();

interface Measured {
  peak: number;
  result: FloodResult;
  memoryMb: number;
}

/** Floods a new gateway with lists of one project, while a BUSINESS project asks at its usual rate. */
async function measure({ plan, factor }: Flood, mode: 'off' | 'on'): Promise<Measured> {
  const tenants = await environment.plans();
  const gateway = await startGateway(tenants.ENTERPRISE, { env: { OVERLOAD: mode } });
  try {
    const listsOf = (tenant: Tenant) =>
      listRequest({ ...gateway, token: tenant.token }, 'rest', everywhere(tenant));
    const peak = await peakOf(gateway, listsOf(tenants.ENTERPRISE));
    const beforeMb = memoryMbOf(gateway.processId, 'VmRSS') ?? Number.NaN;
    const requestsPerSecond = factor * peak;
    const result = await flood({
      port: Number(new URL(gateway.origin).port),
      flood: { request: listsOf(tenants[plan]), requestsPerSecond, connections: FLOOD_CONNECTIONS },
      steady: { request: listsOf(tenants.BUSINESS), ...STEADY },
      settleSeconds: SETTLE_SECONDS,
      seconds,
      calmSeconds: CALM_SECONDS,
    });
    const peakMb = memoryMbOf(gateway.processId, 'VmHWM') ?? Number.NaN;
    return { peak, result, memoryMb: peakMb - beforeMb };
  } finally {
    await gateway.stop();
  }
}

/** Answers a second when every connection always waits for one. */
async function peakOf({ origin }: Contestant, request: ReturnType<typeof listRequest>): Promise<number> {
  const job = { origins: [origin], request, connections: PEAK_CONNECTIONS, requestsPerSecond: null };
  await generateLoad({ ...job, seconds: PEAK_SECONDS }, OTHER_CORE);
  return (await generateLoad({ ...job, seconds: PEAK_SECONDS }, OTHER_CORE)).requestsPerSecond;
}

async function flood(job: FloodJob): Promise<FloodResult> {
  const child = spawnPinned(OTHER_CORE, [process.execPath, 'dist/bench/flood.js'], {
    env: { PATH: String(process.env.PATH) },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin?.end(JSON.stringify(job));
  return JSON.parse(await text(child.stdout as NodeJS.ReadableStream)) as FloodResult;
}

function rowOf({ peak, result: { flood, steady, recoverySeconds }, memoryMb }: Measured) {
  return {
    'peak/s': Math.round(peak),
    'answered/s': Math.round(flood.answered + steady.answered),
    'shed/s': Math.round(flood.shed),
    'other/s': Math.round(flood.other),
    'p50 ms': Math.round(flood.p50Ms),
    'p99 ms': Math.round(flood.p99Ms),
    'BUSINESS served %': Math.round(servedShareOf(steady) * 1000) / 10,
    'its p99 ms': Math.round(steady.p99Ms),
    'recovery s': Math.round(recoverySeconds * 10) / 10,
    'more MB': Math.round(memoryMb),
  };
}

function boundsOf(kind: Flood, { peak, result: { flood, steady, recoverySeconds } }: Measured): Bound[] {
  const { goal } = kind;
  const goodput = (flood.answered + steady.answered) / peak;
  const served = servedShareOf(steady);
  const ofFlood = [
    { text: `${percent(goodput)} of the peak is answered`, isKept: goodput >= Number(goal) },
    { text: `its p99 is ${Math.round(flood.p99Ms)} ms`, isKept: flood.p99Ms <= LATE_MS },
  ];
  const ofNeighbour = [
    { text: `BUSINESS is served ${percent(served)}`, isKept: served >= LEAST_SERVED },
    { text: `its p99 is ${Math.round(steady.p99Ms)} ms`, isKept: steady.p99Ms <= LATE_MS },
    {
      text: `after ${recoverySeconds.toFixed(1)} s all are served in time`,
      isKept: recoverySeconds <= MAX_RECOVERY_SECONDS,
    },
  ];
  const bounds = goal === null ? ofNeighbour : [...ofFlood, ...ofNeighbour];
  return bounds.map(({ text, isKept }) => ({ text: `${nameOf(kind)}: ${text}`, isKept }));
}

function nameOf({ plan, factor }: Flood): string {
  return `${plan}, ${factor} × the peak`;
}

function servedShareOf({ answered, shed, other }: FloodResult['steady']): number {
  return answered / (answered + shed + other);
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
