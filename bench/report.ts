import { readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import type { AgainstRow, Cost } from './against.js';
import { chart } from './chart.js';
import type { Measured, Pace } from './measure.js';
import { withResults } from './readme.js';
import { type Goal, isMet, measuredOf, type RowResult } from './row.js';

export interface NamedResult extends RowResult {
  name: string;
  goal: Goal;
  isInChart: boolean;
}

export interface RunResult {
  /** The commit that was measured. */
  commit: string;
  /** The day, as in ISO 8601. */
  date: string;
  isQuick: boolean;
  pace: Pace;
  largeRows: number;
  machine: Machine;
  rows: NamedResult[];
}

interface Machine {
  processor: string;
  cores: number;
  node: string;
  mysql: string;
  isPinned: boolean;
}

/** Pets in the large project of a full run. */
export const FULL_ROWS = 10_000_000;
const NO_NUMBER = '–';
const ONE_CORE_IS_BUSY = 0.9;

export function machineOf(mysql: string, isPinned: boolean): Machine {
  const processors = cpus();
  const processor = processors[0]?.model ?? 'unknown';
  return { processor, cores: processors.length, node: process.version, mysql, isPinned };
}

/** Prints a row as soon as it is measured. */
export function printRow(row: NamedResult, tookSeconds: number): void {
  console.log(
    `\n${row.name}: ${measuredOf(row)} (goal ${goalOf(row.goal)}; ${row.note}; took ${Math.round(tookSeconds)} s)`,
  );
  if (row.measured.length > 0) console.table(row.measured.map(contestantRow));
}

export function printTable({ rows, pace, machine, largeRows }: RunResult): void {
  console.table(
    rows.map((row) => ({
      workload: row.name,
      measured: measuredOf(row),
      goal: goalOf(row.goal),
      'met?': row.value === null ? NO_NUMBER : isMet(row.goal, row.value) ? 'yes' : 'NO',
    })),
  );
  const { processor, cores, node, mysql, isPinned } = machine;
  const footnotes = [
    `${processor}, ${cores} cores, Node ${node}, MySQL ${mysql}. ${largeRows.toLocaleString('en')} pets in the large project${largeRows < FULL_ROWS ? `, ${FULL_ROWS.toLocaleString('en')} in a full run` : ''}.`,
    `Medians of ${pace.rounds} alternating rounds of ${pace.seconds} s, after a warm-up of at least ${pace.warmUpSeconds} s; 20 of 20,000 pets, 32 keep-alive connections to each process.`,
    'The gateway runs with its defaults: it checks keys, quotas and input, and logs every request to a file. The peers do none of this.',
    isPinned
      ? 'Each contestant ran on core 0, MySQL and the load generator on core 1. The rows of two processes and of the start used any core.'
      : 'NOT PINNED: pinning needs two cores and `taskset`. Contestants, MySQL and the load generator shared all cores.',
    `Busy cores below ${ONE_CORE_IS_BUSY} mean that MySQL or the load generator was the bottleneck; compare the CPU per request then.`,
  ];
  console.log(footnotes.join('\n'));
}

export async function writeResults(result: RunResult): Promise<void> {
  await writeFile('bench/results.json', `${JSON.stringify(result, null, 2)}\n`);
  await writeFile('bench/results.svg', chart(result));
  await writeFile('README.md', withResults(await readFile('README.md', 'utf8'), result));
  console.log('Written: bench/results.json, bench/results.svg, README.md');
}

/** Prints the costs of all builds, and what the comparison says. Returns whether no row is slower. */
export function printAgainst(rows: readonly AgainstRow[]): boolean {
  const costOf = ({ gatewayMicros, databaseMicros, requestsPerSecond }: Cost) =>
    `${Math.round(gatewayMicros)} + ${Math.round(databaseMicros)} µs, ${Math.round(requestsPerSecond).toLocaleString('en')}/s`;
  console.log(
    "Processor time per request, of the gateway's main thread + of MySQL, and requests per second in short turns:",
  );
  console.table(
    rows.map(({ name, costs, floor }) => ({
      row: name,
      ...Object.fromEntries([...costs, ...(floor ? [floor] : [])].map((cost) => [cost.name, costOf(cost)])),
    })),
  );
  for (const { name, comparisons, verdicts } of rows)
    for (const [at, { against, pairs, comparison }] of comparisons.entries()) {
      const { ratio, interval, probability } = comparison;
      const [low, high] = interval.map((bound) => bound.toFixed(3));
      const proof = `${low} to ${high}, p ${probability.toFixed(4)}, ${pairs} pairs of processes`;
      console.log(
        `${verdicts[at]?.toUpperCase()}: ${name} costs ${ratio.toFixed(3)} × that of ${against} (${proof})`,
      );
    }
  return rows.every(({ verdicts }) => !verdicts.includes('slower'));
}

function contestantRow({ name, requestsPerSecond, p50Ms, p99Ms, cpuMicros, busyCores }: Measured) {
  return {
    contestant: name,
    'requests/s': Math.round(requestsPerSecond).toLocaleString('en'),
    'p50 ms': p50Ms.toFixed(2),
    'p99 ms': p99Ms.toFixed(2),
    'CPU µs/request': cpuMicros === null ? NO_NUMBER : Math.round(cpuMicros),
    'busy cores': busyCores === null ? NO_NUMBER : busyCores.toFixed(2),
  };
}

function goalOf({ unit, atLeast, atMost }: Goal): string {
  if (atLeast === undefined && atMost === undefined) return 'none';
  return atLeast === undefined ? `≤ ${atMost?.toLocaleString('en')} ${unit}` : `≥ ${atLeast} ${unit}`;
}
