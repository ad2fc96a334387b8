import { GATEWAY } from './contestant.js';
import { generateLoad } from './load-generator.js';
import type { LoadJob } from './load-job.js';
import { cpuSecondsOf, OTHER_CORE } from './processes.js';

/** A contestant to measure, and its load. */
export interface Subject {
  name: string;
  processIds: number[];
  job: LoadJob;
}

/** The result of a contestant: each number is the median of the rounds. */
export interface Measured {
  name: string;
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Processor time of all its processes per answer; null without /proc. */
  cpuMicros: number | null;
  /** Cores that its processes kept busy. Less than 1 means that another program was the bottleneck. Null without /proc. */
  busyCores: number | null;
}

export interface Pace {
  rounds: number;
  seconds: number;
  /** The minimum: the warm-up repeats, up to `MOST_WARM_UPS` times, until the contestant has answered often enough. */
  warmUpSeconds: number;
  warmUpAnswers?: number;
  /** Null = the load generator runs on any core. */
  loadCore?: number | null;
}

const WARM_UP_ANSWERS = 5_000;
const MOST_WARM_UPS = 4;

/** The contestants run alternately within each round, so that other work on the machine slows all of them. */
export async function measureInTurns(subjects: readonly Subject[], pace: Pace): Promise<Measured[]> {
  const { rounds, seconds, loadCore = OTHER_CORE } = pace;
  const runs = subjects.map((subject) => ({ subject, results: [] as Omit<Measured, 'name'>[] }));
  for (const { subject } of runs) await warmUp(subject, pace, loadCore);
  for (let round = 0; round < rounds; round += 1) {
    for (const { subject, results } of runs) {
      const result = await runOnce(subject, seconds, loadCore);
      if (result.requestsPerSecond === 0) throw new Error(`${subject.name} answered nothing in ${seconds} s`);
      results.push(result);
    }
  }
  return runs.map(({ subject, results }) => {
    const of = (field: keyof Omit<Measured, 'name'>) =>
      median(results.map((result) => result[field] ?? Number.NaN));
    const known = (number: number) => (Number.isNaN(number) ? null : number);
    return {
      name: subject.name,
      requestsPerSecond: of('requestsPerSecond'),
      p50Ms: of('p50Ms'),
      p99Ms: of('p99Ms'),
      cpuMicros: known(of('cpuMicros')),
      busyCores: known(of('busyCores')),
    };
  });
}

/**
 * V8 optimizes code after many calls, so a slow server needs a longer warm-up. On a busy machine the first answers may
 * take longer than one warm-up run.
 */
async function warmUp(
  subject: Subject,
  { warmUpSeconds: seconds, warmUpAnswers = WARM_UP_ANSWERS }: Pace,
  loadCore: number | null,
): Promise<void> {
  const wanted = warmUpAnswers * subject.processIds.length;
  // At a fixed pace a server that is not warm may never catch up.
  const unpaced = { ...subject, job: { ...subject.job, requestsPerSecond: null } };
  let answered = 0;
  for (let turn = 0; turn < MOST_WARM_UPS && answered < wanted; turn += 1) {
    answered += (await runOnce(unpaced, seconds, loadCore)).requestsPerSecond * seconds;
  }
}

async function runOnce(
  { processIds, job }: Subject,
  seconds: number,
  loadCore: number | null,
): Promise<Omit<Measured, 'name'>> {
  const cpuSeconds = () => processIds.reduce((sum, id) => sum + (cpuSecondsOf(id) ?? Number.NaN), 0);
  const before = cpuSeconds();
  const { answered, ...result } = await generateLoad({ ...job, seconds }, loadCore);
  const spentSeconds = cpuSeconds() - before;
  return {
    ...result,
    cpuMicros: (spentSeconds / answered) * 1e6,
    busyCores: (spentSeconds * result.requestsPerSecond) / answered,
  };
}

export function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}

export function gatewayOf(measured: readonly Measured[]): Measured {
  return measured.find(({ name }) => name === GATEWAY) as Measured;
}
