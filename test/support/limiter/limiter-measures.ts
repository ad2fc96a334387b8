import { MemoryLimiter } from '../../../src/request/rate-limit/memory/memory-limiter.js';
import { charge, DAY_MS, NOON_MS } from './charges.js';

/** Printed as JSON: the memory and time that the memory limiter takes. Run with `--expose-gc`. */
export interface LimiterMeasures {
  twoHundredThousandMegabytes: number;
  millionMegabytes: number;
  bansMegabytes: number;
  longestSweepMs: number;
}

const MANY = { perMinute: 1e9, perDay: 1e9 };
const NOTHING = { perMinute: 0, perDay: null };

const project = (index: number) =>
  charge({ subject: `project:${7_000_000_000_000_000 + index * 4_099}`, quota: MANY });
const address = (index: number) =>
  charge({ subject: `address:2001:db8:${index >> 16}:${index & 0xffff}::/64`, keyId: null });

function filled(count: number, clock = { now: NOON_MS }): MemoryLimiter {
  const limiter = new MemoryLimiter(() => clock.now);
  for (let index = 0; index < count / 2; index += 1) {
    limiter.charge(project(index));
    limiter.charge(address(index));
  }
  if (limiter.subjectCount !== count) throw new Error(`${limiter.subjectCount} subjects instead of ${count}`);
  return limiter;
}

function megabytesOf(make: () => MemoryLimiter): number {
  const used = () => {
    globalThis.gc?.();
    const { heapUsed, external } = process.memoryUsage();
    return (heapUsed + external) / 1e6;
  };
  const before = used();
  const kept = make();
  const grown = used() - before;
  kept.peek(project(0));
  return grown;
}

function struckKeys(count: number): MemoryLimiter {
  const limiter = new MemoryLimiter(() => NOON_MS);
  for (let key = 0; key < count; key += 1) {
    limiter.charge(charge({ quota: NOTHING, keyId: String(7_000_000_000_000_000 + key) }));
  }
  return limiter;
}

/** Takes each step's shortest time of several runs, because longer times come from other programs on the machine. */
function longestSweepMs(): number {
  const shortestMs: number[] = [];
  for (let run = 0; run < 4; run += 1) {
    const clock = { now: NOON_MS };
    const limiter = filled(1_000_000, clock);
    clock.now += DAY_MS;
    for (let request = 0; limiter.subjectCount > 1; request += 1) {
      const startedAt = performance.now();
      limiter.charge(project(0));
      const tookMs = performance.now() - startedAt;
      shortestMs[request] = Math.min(shortestMs[request] ?? Number.POSITIVE_INFINITY, tookMs);
    }
  }
  return Math.max(...shortestMs);
}

const measures: LimiterMeasures = {
  twoHundredThousandMegabytes: megabytesOf(() => filled(200_000)),
  bansMegabytes: megabytesOf(() => struckKeys(150_000)),
  millionMegabytes: megabytesOf(() => filled(1_000_000)),
  longestSweepMs: longestSweepMs(),
};
process.stdout.write(`${JSON.stringify(measures)}\n`);
