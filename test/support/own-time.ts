import { spawn } from 'node:child_process';
import { once } from 'node:events';

const TICK_MS = 10;
/** What starting Node takes on a quiet development machine. */
const NODE_START_MS = 45;
const STARTS = 3;

interface Timed<T> {
  result: T;
  tookMs: number;
}

/**
 * Counts how often a timer of 10 ms fires while the work runs. On a quiet machine that is the time; on a busy one it leaves
 * out the stalls of this process. For deadlines that are kept by timers of this process.
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

/** How many times longer this machine takes at this moment than a quiet development machine; at least 1. */
export async function slowness(): Promise<number> {
  const startedAt = performance.now();
  for (let started = 0; started < STARTS; started += 1) {
    await once(spawn(process.execPath, ['--eval', ''], { stdio: 'ignore' }), 'exit');
  }
  return Math.max(1, (performance.now() - startedAt) / STARTS / NODE_START_MS);
}

/** The time of the work, divided by the slowness of the machine before or after it. For work of several processes. */
export async function atMachineSpeed<T>(work: () => Promise<T>): Promise<Timed<T>> {
  const before = await slowness();
  const startedAt = performance.now();
  const result = await work();
  const tookMs = performance.now() - startedAt;
  return { result, tookMs: tookMs / Math.max(before, await slowness()) };
}
