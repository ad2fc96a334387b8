import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { eventually } from '../eventually.js';
import { Daemon, type Program } from './daemon.js';
import { anotherAnswers, givenServer, type OwnServer, runOwnServer } from './own-server.js';
import { unpackDebianPackages } from './programs/debian-packages.js';
import { firstWorking, type Place } from './programs/first-working.js';
import { requireVersion } from './programs/oldest-versions.js';
import { executableOnPath, printedBy } from './programs/programs.js';

/** A running Redis, started by the test or named by TEST_REDIS_URL. A restart empties it. */
export interface RedisServer extends OwnServer {
  /** `redis://127.0.0.1:6379` */
  url: string;
}

/** Starts a found or downloaded Redis that stores nothing on disk; with TEST_REDIS_URL it uses that server. */
export async function startRedis({ args }: { args?: string[] } = {}): Promise<RedisServer> {
  const given = process.env.TEST_REDIS_URL;
  return given ? givenRedis(given) : runRedis(await redisProgram(), args);
}

/** It is also the program of Sentinel. */
export const redisProgram = () => firstWorking('Redis', PLACES);

const PACKAGES = 'redis-packages';

const PLACES: Place<Program>[] = [
  {
    name: 'installed redis-server',
    advice: 'install Redis 7 or later, or point TEST_REDIS_URL to a server: redis://127.0.0.1:6379',
    find: () => suitable({ file: executableOnPath('redis-server'), args: [] }),
  },
  {
    name: 'packages of Debian or Ubuntu',
    advice: 'run on Debian or Ubuntu with a mirror that apt reaches',
    find: async () => {
      const root = await unpackDebianPackages({ name: PACKAGES, suite: 'own', packages: ['redis-server'] });
      return suitable(root.program('usr/bin/redis-server'));
    },
  },
];

async function suitable(program: Program): Promise<Program> {
  requireVersion('Redis', program, await printedBy(program, '--version'));
  return program;
}

async function runRedis(program: Program, args: string[] = []): Promise<RedisServer> {
  const home = await mkdtemp(join(tmpdir(), 'petstore-redis-'));
  const volatile = ['--save', '', '--appendonly', 'no'];
  const server = await runOwnServer({
    home,
    daemon: (port) => {
      const address = ['--bind', '127.0.0.1', '--port', String(port), '--dir', home];
      return new Daemon({
        program,
        args: [...address, ...volatile, ...args],
        home,
        logFile: join(home, 'log'),
      });
    },
    probe: (port) => answer(`redis://127.0.0.1:${port}`, home),
    restartSignal: 'SIGKILL',
  });
  return { ...server, url: `redis://127.0.0.1:${server.port}` };
}

async function givenRedis(url: string): Promise<RedisServer> {
  return { ...(await givenServer('TEST_REDIS_URL', () => answer(url))), url };
}

// The folder distinguishes this server from another test's that took the port first.
async function answer(url: string, expectedFolder?: string): Promise<void> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: 5_000,
    retryStrategy: () => null,
    // The client keeps a timer of this length for a refused connection.
    disconnectTimeout: 1,
  });
  redis.on('error', () => {});
  try {
    await redis.connect();
    const [, folder] = (await redis.config('GET', 'dir')) as string[];
    if (expectedFolder !== undefined && folder !== expectedFolder) {
      throw anotherAnswers(url);
    }
  } finally {
    redis.disconnect();
  }
}

/** Two servers, of which one is the master, and three Sentinels that watch it. */
export interface WatchedRedis {
  /** For `REDIS_URL`. */
  url: string;
  servers: RedisServer[];
  sentinels: string[];
  /** The server that the Sentinels call the master. */
  master(): Promise<RedisServer>;
  stop(): Promise<void>;
}

export const MASTER = 'petstore';
const DOWN_AFTER_MS = 1_000;

/** A master that is away for a second is replaced, as two Sentinels see it. */
export async function startWatchedRedis(): Promise<WatchedRedis> {
  const first = await startRedis();
  const port = portOf(first.url);
  const second = await startRedis({
    args: ['--replicaof', '127.0.0.1', port, '--repl-diskless-sync-delay', '0'],
  });
  const sentinels = await Promise.all([1, 2, 3].map(() => startSentinel(port)));
  const addresses = sentinels.map((sentinel) => `127.0.0.1:${sentinel.port}`);
  await eventually('replica and Sentinels know each other', async () => {
    const states = await Promise.all(addresses.map((address) => stateAt(address)));
    return states.every(
      (state) => state.get('num-slaves') === '1' && state.get('num-other-sentinels') === '2',
    );
  });
  return {
    url: `redis+sentinel://${addresses.join(',')}/${MASTER}`,
    servers: [first, second],
    sentinels: addresses,
    master: async () => {
      const state = await stateAt(addresses[0] as string);
      return [first, second].find(({ url }) => portOf(url) === state.get('port')) as RedisServer;
    },
    stop: async () => {
      await Promise.all([...sentinels, first, second].map((server) => server.stop()));
    },
  };
}

export const portOf = (url: string) => new URL(url).port;

/** Sends one command, also to a Sentinel. */
export async function order(url: string, name: string, ...args: string[]): Promise<unknown> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null, disconnectTimeout: 1 });
  redis.on('error', () => {});
  try {
    await redis.connect();
    return await redis.call(name, ...args);
  } finally {
    redis.disconnect();
  }
}

async function stateAt(address: string): Promise<Map<string, string>> {
  const flat = (await order(`redis://${address}`, 'SENTINEL', 'MASTER', MASTER)) as string[];
  return new Map(
    Array.from({ length: flat.length / 2 }, (_, at) => [String(flat[at * 2]), String(flat[at * 2 + 1])]),
  );
}

/** Two Sentinels must agree that the master is away. */
export async function startSentinel(masterPort: string): Promise<OwnServer & { port: number }> {
  const program = await redisProgram();
  const home = await mkdtemp(join(tmpdir(), 'petstore-sentinel-'));
  const file = join(home, 'sentinel.conf');
  const settings = [
    `sentinel monitor ${MASTER} 127.0.0.1 ${masterPort} 2`,
    `sentinel down-after-milliseconds ${MASTER} ${DOWN_AFTER_MS}`,
    `sentinel failover-timeout ${MASTER} 5000`,
  ];
  await writeFile(file, `${settings.join('\n')}\n`);
  return runOwnServer({
    home,
    daemon: (port) =>
      new Daemon({
        program,
        args: [file, '--sentinel', '--bind', '127.0.0.1', '--port', String(port), '--dir', home],
        home,
        logFile: join(home, 'log'),
      }),
    probe: async (port) => {
      const info = String(await order(`redis://127.0.0.1:${port}`, 'INFO', 'server'));
      if (!info.includes(file)) throw anotherAnswers(`127.0.0.1:${port}`);
    },
    restartSignal: 'SIGKILL',
  });
}
