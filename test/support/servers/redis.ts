import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
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
  return given ? givenRedis(given) : runRedis(await firstWorking('Redis', PLACES), args);
}

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
