import { spawn } from 'node:child_process';
import { once } from 'node:events';

const TICK_MS = 10;
/** The time to start Node on a quiet development machine. */
const NODE_START_MS = 45;
const STARTS = 3;
/** The processor time of `referenceWork` on a quiet development machine. */
const REFERENCE_WORK_MS = 90;

interface Timed<T> {
  result: T;
  tookMs: number;
}

/**
 * Measures time as the number of ticks of a 10 ms timer while the work runs. On a quiet machine that is the real time;
 * on a busy one it excludes the stalls of this process. For deadlines kept by timers of this process.
 */
export async function inOwnTicks<T>(work: () => Promise<T>): Promise<Timed<T>> {
  let ticks = 0;
  const timer = setInterval(() => {
    ticks += 1;
  }, TICK_MS);
  try {
    const result = await work();
    return { result, tookMs: ticks * TICK_MS };
  } finally {
    clearInterval(timer);
  }
}

/** Returns how many times slower this machine is now than a quiet development machine; at least 1. */
export async function slowness(): Promise<number> {
  const startedAt = performance.now();
  for (let started = 0; started < STARTS; started += 1) {
    await once(spawn(process.execPath, ['--eval', ''], { stdio: 'ignore' }), 'exit');
  }
  return Math.max(1, (performance.now() - startedAt) / STARTS / NODE_START_MS);
}

/**
 * Returns how many times more processor time a piece of work takes now than on a quiet development machine; at least 1.
 * Busy cores share caches and power, so the same work takes up to twice as much.
 */
export function processorSlowness(): number {
  referenceWork();
  const before = process.cpuUsage();
  referenceWork();
  const { user, system } = process.cpuUsage(before);
  return Math.max(1, (user + system) / 1_000 / REFERENCE_WORK_MS);
}

/** Reads and writes JSON of 200 KB, 40 times. */
function referenceWork(): void {
  const rows = Array.from({ length: 2_000 }, (_, at) => ({
    id: String(at),
    name: `name ${at}`,
    list: [at, { at }],
  }));
  let text = JSON.stringify(rows);
  for (let time = 0; time < 40; time += 1) text = JSON.stringify(JSON.parse(text));
}

/** Returns the work's time, divided by the machine's slowness before or after it. For work of several processes. */
export async function atMachineSpeed<T>(work: () => Promise<T>): Promise<Timed<T>> {
  const before = await slowness();
  const startedAt = performance.now();
  const result = await work();
  const tookMs = performance.now() - startedAt;
  return { result, tookMs: tookMs / Math.max(before, await slowness()) };
}
