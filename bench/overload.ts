import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { type Contestant, startGateway } from './contestant.js';
import type { Tenant } from './dataset.js';
import { startEnvironment } from './environment.js';
import type { FloodJob, FloodResult } from './flood-job.js';
import { generateLoad } from './load-generator.js';
import { memoryMbOf, OTHER_CORE, spawnPinned } from './processes.js';
import { everywhere, listRequest } from './requests.js';

const USAGE = `npm run bench:overload             a flood of 3 and 10 times the capacity, without and with the limit
  --seconds <n>                    length of each flood, at least 2`;

/** Lists from the database, and none of them twice. */
const PEAK_CONNECTIONS = [32, 256];
const PEAK_SECONDS = 5;
const FLOOD_CONNECTIONS = 2_000;
const STEADY = { requestsPerSecond: 100, connections: 100 };
const SETTLE_SECONDS = 3;
const CALM_SECONDS = 5;
/** Of the peak, by the factor of the flood. */
const GOODPUT_GOALS = new Map([
  [3, 0.9],
  [10, 0.8],
]);

const { values } = parseArgs({ options: { seconds: { type: 'string' }, help: { type: 'boolean' } } });
const seconds = Number(values.seconds ?? 10);
if (values.help || !(seconds >= 2)) {
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
  for (const [factor, goal] of GOODPUT_GOALS) {
    for (const mode of ['off', 'on'] as const) {
      const { peak, memoryMb, result } = await measure(factor, mode);
      const row = rowOf(`${factor} × the peak, OVERLOAD=${mode}`, peak, result, memoryMb);
      rows.push(row);
      console.log(JSON.stringify(row));
      if (mode === 'on') bounds.push(...boundsOf(factor, goal, peak, result));
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

/** Floods a new gateway with lists of a FREE project, while a BUSINESS project asks at its usual rate. */
async function measure(factor: number, mode: 'off' | 'on') {
  const [free, business] = await environment.plans();
  const gateway = await startGateway(free, { env: { OVERLOAD: mode } });
  try {
    const request = ({ token }: Tenant) => listRequest({ ...gateway, token }, 'rest', everywhere(free));
    const peak = await peakOf(gateway, request(free));
    const beforeMb = memoryMbOf(gateway.processId, 'VmRSS') ?? Number.NaN;
    const result = await flood({
      port: Number(new URL(gateway.origin).port),
      flood: {
        request: request(free),
        requestsPerSecond: factor * peak,
        connections: FLOOD_CONNECTIONS,
      },
      steady: { request: request(business), ...STEADY },
      settleSeconds: SETTLE_SECONDS,
      seconds,
      calmSeconds: CALM_SECONDS,
    });
    const peakMb = memoryMbOf(gateway.processId, 'VmHWM') ?? Number.NaN;
    return { peak, memoryMb: peakMb - beforeMb, result };
  } finally {
    await gateway.stop();
  }
}

/** Answers a second when every connection always waits for one. */
async function peakOf({ origin }: Contestant, request: ReturnType<typeof listRequest>): Promise<number> {
  const rates: number[] = [];
  for (const connections of PEAK_CONNECTIONS) {
    const job = { origins: [origin], request, connections, requestsPerSecond: null };
    await generateLoad({ ...job, seconds: 2 }, OTHER_CORE);
    rates.push((await generateLoad({ ...job, seconds: PEAK_SECONDS }, OTHER_CORE)).requestsPerSecond);
  }
  return Math.max(...rates);
}

async function flood(job: FloodJob): Promise<FloodResult> {
  const child = spawnPinned(OTHER_CORE, [process.execPath, 'dist/bench/flood.js'], {
    env: { PATH: String(process.env.PATH) },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin?.end(JSON.stringify(job));
  return JSON.parse(await text(child.stdout as NodeJS.ReadableStream)) as FloodResult;
}

function rowOf(
  name: string,
  peak: number,
  { flood, steady, recoverySeconds }: FloodResult,
  memoryMb: number,
) {
  return {
    flood: name,
    'peak/s': Math.round(peak),
    'answered/s': Math.round(flood.answered + steady.answered),
    'shed/s': Math.round(flood.shed),
    'lost/s': Math.round(flood.lost),
    'p50 ms': Math.round(flood.p50Ms),
    'p99 ms': Math.round(flood.p99Ms),
    'BUSINESS served %': Math.round(servedShareOf(steady) * 1000) / 10,
    'its p99 ms': Math.round(steady.p99Ms),
    'recovery s': Math.round(recoverySeconds * 10) / 10,
    'more MB': Math.round(memoryMb),
  };
}

function boundsOf(factor: number, goal: number, peak: number, result: FloodResult): Bound[] {
  const { flood, steady, recoverySeconds } = result;
  const goodput = (flood.answered + steady.answered) / peak;
  const at = `at ${factor} × the peak`;
  return [
    {
      text: `${at} ${percent(goodput)} of the peak is answered, goal ${percent(goal)}`,
      isKept: goodput >= goal,
    },
    {
      text: `${at} the p99 of answers is ${Math.round(flood.p99Ms)} ms, goal 250 ms`,
      isKept: flood.p99Ms <= 250,
    },
    {
      text: `${at} of FREE, BUSINESS is served ${percent(servedShareOf(steady))}, goal 99 %`,
      isKept: servedShareOf(steady) >= 0.99,
    },
    {
      text: `${at} the p99 of BUSINESS is ${Math.round(steady.p99Ms)} ms, goal 250 ms`,
      isKept: steady.p99Ms <= 250,
    },
    {
      text: `${recoverySeconds.toFixed(1)} s after the flood all are served in time, goal 2 s`,
      isKept: recoverySeconds <= 2,
    },
  ];
}

function servedShareOf({ answered, shed, lost }: FloodResult['steady']): number {
  return answered / (answered + shed + lost);
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
