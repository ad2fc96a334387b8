import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { Daemon, freePort, type Program } from './daemon.js';
import { unpackDebianPackages } from './debian-packages.js';
import { firstWorking, type Place } from './first-working.js';
import { requireVersion } from './oldest-versions.js';
import { executableOnPath, printedBy } from './programs.js';

/** A running Redis of the test's own, or the one TEST_REDIS_URL names. */
export interface RedisServer {
  /** `redis://127.0.0.1:6379` */
  url: string;
  /** Resolves for SIGKILL and SIGTERM when the process is gone, for SIGSTOP when it no longer runs. Rejects when the server is not ours. */
  kill(signal: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP' | 'SIGCONT'): Promise<void>;
  /** Empty, same port; a running server is ended first. Resolves when it answers. Rejects when the server is not ours. */
  restart(): Promise<void>;
  /** Ends the server. One that is not ours keeps running. */
  stop(): Promise<void>;
}

/** A Redis that keeps nothing on disk. Takes the one TEST_REDIS_URL names, else finds or brings a program and starts it. */
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
  let port = await freePort();
  const start = async () => {
    const address = ['--bind', '127.0.0.1', '--port', String(port), '--dir', home];
    const volatile = ['--save', '', '--appendonly', 'no'];
    const daemon = new Daemon({
      program,
      args: [...address, ...volatile, ...args],
      home,
      logFile: join(home, 'log'),
    });
    try {
      await daemon.waitUntil(() => answer(`redis://127.0.0.1:${port}`, home));
      return daemon;
    } catch (error) {
      await daemon.kill('SIGKILL');
      throw error;
    }
  };
  let daemon = await start().catch(async (error) => {
    if (/Address already in use|Another server answers/.test(error.message)) {
      port = await freePort();
      return start();
    }
    await rm(home, { recursive: true, force: true });
    throw error;
  });
  return {
    url: `redis://127.0.0.1:${port}`,
    kill: (signal) => daemon.kill(signal),
    restart: async () => {
      await daemon.kill('SIGKILL');
      daemon = await start();
    },
    stop: async () => {
      await daemon.kill('SIGKILL');
      await rm(home, { recursive: true, force: true });
    },
  };
}

async function givenRedis(url: string): Promise<RedisServer> {
  await answer(url).catch((error) => {
    throw new Error(`TEST_REDIS_URL is set but its server does not answer: ${error.message}`, {
      cause: error,
    });
  });
  const refuse = async () => {
    throw new Error(
      'This test ends and restarts its server, which it may not do to the one TEST_REDIS_URL names: unset it',
    );
  };
  return { url, kill: refuse, restart: refuse, stop: async () => {} };
}

// The folder tells our server from another test's that took the port between our looking and our starting.
async function answer(url: string, expectedFolder?: string): Promise<void> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: 5_000,
    retryStrategy: () => null,
    // It keeps a timer of this length for a connection that was refused.
    disconnectTimeout: 1,
  });
  redis.on('error', () => {});
  try {
    await redis.connect();
    const [, folder] = (await redis.config('GET', 'dir')) as string[];
    if (expectedFolder !== undefined && folder !== expectedFolder) {
      throw new Error(`Another server answers at ${url}`);
    }
  } finally {
    redis.disconnect();
  }
}
