import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import type * as Peer from 'rate-limiter-flexible';
import { connectRedis, sendTogether } from '../src/ground/redis/redis-connection.js';
import { MemoryLimiter } from '../src/request/rate-limit/memory/memory-limiter.js';
import { RedisLimiter } from '../src/request/rate-limit/redis/redis-limiter.js';
import type { Charge } from '../src/request/rate-limit/rules/limiter.js';
import { startRedis } from '../test/support/servers/redis.js';

/**
 * Prints decisions per second, in memory and through Redis. The peers are rate-limiter-flexible, which decides one
 * window, and the upper bound of Redis and its client: an EVALSHA of an empty script. The contestants run alternately;
 * each number is the median of the rounds.
 */
const ROUNDS = 3;
const SUBJECTS = 1_000;
const IN_MEMORY = 300_000;
const THROUGH_REDIS = 60_000;
const IN_FLIGHT = 500;

// The peers are installed in bench/; the compiled file is in dist/.
const { RateLimiterMemory, RateLimiterRedis } = createRequire(resolve('bench/package.json'))(
  'rate-limiter-flexible',
) as typeof Peer;

const quota = { perMinute: 1e9, perDay: 1e9 };
const charges: Charge[] = Array.from({ length: SUBJECTS }, (_, index) => ({
  subject: `project:${7_000_000_000_000_000 + index * 4_099}`,
  keyId: String(8_000_000_000_000_000 + index),
  quota,
  cost: 1,
}));
const chargeOf = (turn: number) => charges[turn % SUBJECTS] as Charge;

const server = await startRedis();
const redis = await connectRedis(server.url);

interface Contestant {
  name: string;
  /** Runs once and returns decisions per second. */
  run(): Promise<number>;
  perSecond: number[];
}

const contestant = (name: string, run: () => Promise<number>): Contestant => ({ name, run, perSecond: [] });

async function timed(decisions: number, work: () => Promise<void> | void): Promise<number> {
  const startedAt = performance.now();
  await work();
  return decisions / ((performance.now() - startedAt) / 1000);
}

/** Keeps `IN_FLIGHT` decisions in flight, as concurrent requests do. */
function pipelined(
  send: (turn: number) => Promise<unknown>,
  before: (connection: typeof redis) => void = sendTogether,
): () => Promise<number> {
  return () =>
    timed(THROUGH_REDIS, async () => {
      let turn = 0;
      const worker = async () => {
        while (turn < THROUGH_REDIS) {
          turn += 1;
          before(redis);
          await send(turn);
        }
      };
      await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
    });
}

function inMemory(): Contestant[] {
  const ours = new MemoryLimiter(Date.now);
  const theirs = new RateLimiterMemory({ points: 1e9, duration: 60 });
  return [
    contestant('in memory: both windows and bans', () =>
      timed(IN_MEMORY, () => {
        for (let turn = 0; turn < IN_MEMORY; turn += 1) ours.charge(chargeOf(turn));
      }),
    ),
    contestant('in memory: rate-limiter-flexible, one window', () =>
      timed(IN_MEMORY, async () => {
        for (let turn = 0; turn < IN_MEMORY; turn += 1) await theirs.consume(chargeOf(turn).subject);
      }),
    ),
  ];
}

async function throughRedis(): Promise<Contestant[]> {
  const ours = new RedisLimiter(redis);
  const theirs = new RateLimiterRedis({ storeClient: redis, points: 1e9, duration: 60 });
  const empty = String(await redis.script('LOAD', 'return 0'));
  const sameInput = (turn: number) => {
    const { subject, keyId } = chargeOf(turn);
    const keys = [`petstore:rate:{${subject}}`, `petstore:rate:{${subject}}:ban:${keyId}`] as const;
    return redis.evalsha(empty, 2, ...keys, 1, 1e9, 1e9);
  };
  const noInput = () => redis.evalsha(empty, 0);
  return [
    contestant(
      'Redis: empty script, no input, as ioredis sends it',
      pipelined(noInput, () => {}),
    ),
    contestant('Redis: empty script, no input', pipelined(noInput)),
    contestant('Redis: empty script, our keys and arguments', pipelined(sameInput)),
    contestant(
      'Redis: both windows and bans',
      pipelined((turn) => ours.charge(chargeOf(turn))),
    ),
    contestant(
      'Redis: rate-limiter-flexible, one window',
      pipelined((turn) => theirs.consume(chargeOf(turn).subject)),
    ),
  ];
}

const median = (numbers: number[]) =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

const contestants = [...inMemory(), ...(await throughRedis())];
for (const { run } of contestants) await run();
for (let round = 0; round < ROUNDS; round += 1) {
  for (const { run, perSecond } of contestants) perSecond.push(await run());
}
console.table(
  contestants.map(({ name, perSecond }) => {
    const best = contestants.find((other) => other.name.startsWith(name.split(':')[0] ?? ''));
    return {
      contestant: name,
      'decisions per second': Math.round(median(perSecond)).toLocaleString('en'),
      'of the first': `${Math.round((100 * median(perSecond)) / median(best?.perSecond ?? []))} %`,
    };
  }),
);
redis.disconnect();
await server.stop();
