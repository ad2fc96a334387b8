import type { Charge, Limiter } from '../../../src/request/rate-limit/rules/limiter.js';
import { seeded } from './seeded.js';

/** Returns a number from 0 up to 1. */
type Chance = () => number;

/** The pause in ms before the next request, after a refusal with this Retry-After; null = the call gives up. */
type Pauses = (retryAfterMs: number) => number | null;

/** Makes the pauses of one call. */
export type Client = (chance: Chance) => Pauses;

export const JITTERS = ['none', 'equal', 'around', 'full', 'decorrelated'] as const;

/** Exponential back-off with the usual kinds of jitter. */
export function backsOff({
  baseMs = 1_000,
  factor = 2,
  capMs = 30_000,
  jitter = 'none' as (typeof JITTERS)[number],
  most = Infinity,
} = {}): Client {
  return (chance) => {
    let made = 0;
    let previousMs = baseMs;
    return () => {
      if (made === most) return null;
      const pauseMs = Math.min(capMs, baseMs * factor ** made);
      made += 1;
      if (jitter === 'none') return pauseMs;
      if (jitter === 'equal') return pauseMs * (0.5 + chance() / 2);
      if (jitter === 'around') return pauseMs * (0.5 + chance());
      if (jitter === 'full') return pauseMs * chance();
      previousMs = Math.min(capMs, baseMs + chance() * (previousMs * 3 - baseMs));
      return previousMs;
    };
  };
}

const inSteps =
  (pauseMs: (made: number, chance: Chance, retryAfterMs: number) => number, most: number): Client =>
  (chance) => {
    let made = 0;
    return (retryAfterMs) => {
      if (made === most) return null;
      made += 1;
      return pauseMs(made, chance, retryAfterMs);
    };
  };

/** Waits for `Retry-After`. */
const WAITS: Client = () => (retryAfterMs) => retryAfterMs;
/** Repeats at an even pace. */
export const repeats = (everyMs: number): Client => inSteps(() => everyMs, Number.POSITIVE_INFINITY);

/** How real clients behave after our 429. `findings/clients-and-429.sh` measures it. */
export const CLIENTS: Readonly<Record<string, Client>> = {
  'got, ky, axios-retry, kiota, urllib3, curl --retry': WAITS,
  'openapi-fetch, axios, requests, urql': () => () => null,
  'undici RetryAgent': inSteps((_, __, retryAfterMs) => Math.min(30_000, retryAfterMs), 5),
  ofetch: inSteps(() => 50, 1),
  superagent: inSteps(() => 5, 3),
  'fetch-retry, axios-retry with its own delay': inSteps((made) => made * 1_000, 3),
  'p-retry': backsOff({ capMs: Number.POSITIVE_INFINITY, most: 10 }),
  'make-fetch-happen, TanStack Query': backsOff({ most: 3 }),
  gaxios: inSteps((made) => [100, 500, 1_500][made - 1] ?? 0, 3),
  'RTK Query': inSteps((made, chance) => (0.4 + chance()) * 300 * 2 ** made, 5),
  SWR: inSteps((made, chance) => (0.5 + chance()) * 5_000 * 2 ** Math.min(made, 8), Number.POSITIVE_INFINITY),
  'Apollo RetryLink': inSteps((made, chance) => chance() * 300 * 2 ** made, 4),
  'graphql-sse': inSteps((made, chance) => 1_000 * 2 ** (made - 1) + 300 + chance() * 2_700, 5),
  wget: inSteps((made) => Math.min(made, 10) * 1_000, 19),
};

export interface Run {
  client: Client;
  instances: number;
  /** The instances begin within this time. */
  startWithinMs: number;
  /** An instance calls again so long after an answer, or null = it ends. */
  againMs: number | null;
  /** And so long after it gave up. */
  restartMs: number | null;
  lastsMs: number;
  seed: number;
}

/** Runs clients against a limiter whose clock this is. Returns the strikes, and when the key was banned, in ms from the start. */
export async function run(
  limiter: Pick<Limiter, 'charge'>,
  clock: { now: number },
  request: Charge,
  { client, instances, startWithinMs, againMs, restartMs, lastsMs, seed }: Run,
): Promise<{ requests: number; refused: number; strikes: number; bannedAfterMs: number | null }> {
  const chance = seeded(seed);
  const startMs = clock.now;
  const senders = Array.from({ length: instances }, () => ({
    atMs: startMs + chance() * startWithinMs,
    pauses: client(chance),
  }));
  const seen = { requests: 0, refused: 0, strikes: 0, bannedAfterMs: null as number | null };
  for (;;) {
    const next = senders.reduce((first, sender) => (sender.atMs < first.atMs ? sender : first));
    if (next.atMs - startMs >= lastsMs) return seen;
    clock.now = Math.floor(next.atMs);
    const answer = limiter.charge(request);
    const decision = answer instanceof Promise ? await answer : answer;
    seen.requests += 1;
    let pauseMs: number | null = null;
    if (!decision.admitted) {
      seen.refused += 1;
      if (decision.strike !== null) seen.strikes += 1;
      if (decision.startsBan) return { ...seen, bannedAfterMs: clock.now - startMs };
      pauseMs = next.pauses(decision.retryAfterSeconds * 1_000);
    }
    if (pauseMs === null) {
      next.pauses = client(chance);
      pauseMs = (decision.admitted ? againMs : restartMs) ?? Number.POSITIVE_INFINITY;
    }
    // The time that an answer needs.
    next.atMs += pauseMs + 5 + chance() * 20;
  }
}
