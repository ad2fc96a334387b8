import { once } from 'node:events';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Tenant } from './dataset.js';
import { atExit, CONTESTANT_CORE, spawnPinned } from './processes.js';

/** A server under load. */
export interface Contestant {
  name: string;
  origin: string;
  processId: number;
  startMs: number;
  /** The gateway's API key; null for peers, which need none. */
  token: string | null;
  stop(): Promise<void>;
}

export const GATEWAY = 'this gateway';
export const FLOOR = 'floor';

export type Peer = keyof typeof PEERS;

/** JavaScript peers run from their source, the TypeScript peer from its compiled file. */
const PEERS = {
  'node:http + mysql2': 'bench/peers/http-mysql.js',
  'Mercurius JIT + mysql2': 'bench/peers/mercurius.js',
  'GraphQL Yoga + mysql2': 'bench/peers/yoga.js',
  'Apollo Server + mysql2': 'bench/peers/apollo.js',
  'Apollo + type-graphql + TypeORM': 'dist/bench/peers/apollo-typeorm.js',
};

interface GatewayOptions {
  name?: string;
  redisUrl?: string;
  /** Further settings of the gateway. */
  env?: Record<string, string>;
  cores?: number | null;
  /** Where V8 writes its profile at the end of the process; null = no profile. */
  profileFolder?: string | null;
  /** Of the build; by default the working tree. */
  folder?: string;
}

/** Starts the gateway as a user does: all settings have their defaults, except the address of the database. */
export function startGateway(tenant: Tenant, options: GatewayOptions = {}): Promise<Contestant> {
  const {
    name = GATEWAY,
    redisUrl,
    env = {},
    cores = CONTESTANT_CORE,
    profileFolder = null,
    folder = '.',
  } = options;
  const profile = profileFolder === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`];
  return start({
    name,
    cores,
    command: [process.execPath, ...profile, join(folder, 'dist/src/main.js')],
    env: {
      DATABASE_URL: tenant.databaseUrl,
      DEMO: '0',
      ...(redisUrl ? { REDIS_URL: redisUrl } : {}),
      ...env,
    },
    token: tenant.token,
    readOrigin: (output) => /listens on (http:\/\/\S+)/.exec(output)?.[1],
  });
}

export function startPeer(name: Peer, { databaseUrl, projectId }: Tenant): Promise<Contestant> {
  return start({
    name,
    cores: CONTESTANT_CORE,
    command: [process.execPath, PEERS[name]],
    // Several frameworks are slower without NODE_ENV=production; the gateway is not.
    env: { DATABASE_URL: databaseUrl, PROJECT_ID: projectId, NODE_ENV: 'production' },
    token: null,
    readOrigin: originOfPort,
  });
}

/** An answer of the gateway, with the headers that it sets. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Starts a bare `node:http` that sends this answer to every request. */
export async function startFloor(answer: Answer): Promise<Contestant> {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-floor-'));
  const file = join(folder, 'answer.json');
  await writeFile(file, JSON.stringify(answer));
  const env = { ANSWER_FILE: file };
  const command = [process.execPath, 'bench/peers/floor.js'];
  const contestant = await start({
    name: FLOOR,
    cores: CONTESTANT_CORE,
    command,
    env,
    token: null,
    readOrigin: originOfPort,
  });
  await rm(folder, { recursive: true });
  return contestant;
}

function originOfPort(output: string): string | undefined {
  return /^(\d+)$/m.exec(output)?.[1]?.replace(/^/, 'http://127.0.0.1:');
}

interface StartOptions {
  name: string;
  cores: number | null;
  command: string[];
  env: Record<string, string>;
  token: string | null;
  readOrigin(output: string): string | undefined;
}

/** Resolves when the process has printed its address. Rejects with its output if it ends before. */
async function start({ name, cores, command, env, token, readOrigin }: StartOptions): Promise<Contestant> {
  const home = await mkdtemp(join(tmpdir(), 'petstore-bench-'));
  const outputFile = join(home, 'output');
  // A file and not a pipe: this process would have to read each request's log line from a pipe.
  const output = openSync(outputFile, 'w');
  const startedAt = performance.now();
  const child = spawnPinned(cores, command, {
    env: { PATH: String(process.env.PATH), HOME: home, PORT: '0', ...env },
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  const forget = atExit(() => rmSync(home, { recursive: true, force: true }));
  let hasEnded = false;
  const ended = once(child, 'exit').then(() => {
    hasEnded = true;
  });
  for (;;) {
    const said = readFileSync(outputFile, 'utf8');
    const origin = readOrigin(said);
    if (origin !== undefined) {
      const startMs = performance.now() - startedAt;
      const stop = async () => {
        child.kill('SIGINT');
        await ended;
        await rm(home, { recursive: true, force: true });
        forget();
      };
      return { name, origin, processId: Number(child.pid), startMs, token, stop };
    }
    if (hasEnded) throw new Error(`${name} could not start:\n${said}`);
    await pause(1);
  }
}
