import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { loadConfig } from '../../src/ground/config/config.js';
import { Database } from '../../src/ground/database/database.js';
import type { Plan } from '../../src/tenants/projects/plans.js';
import { eventually } from './eventually.js';
import { createServices, DATABASE_SCHEMA, SCOPES } from './gateway/tested-gateway.js';

const MAIN = resolve('dist/test/support/gateway/main.js');
/** A quota that these tests never spend, because they do not test quotas. */
const QUOTA = 1_000_000_000;
const LOG_OPENS_AFTER_MS = 15_000;

/** How a process ended: exactly one of the two is null. */
interface Ending {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** The built gateway of the tests in a separate process, as `npm start` runs the petstore. */
export interface GatewayProcess {
  /** `http://127.0.0.1:<port>`; throws before the process has printed its address. */
  readonly url: string;
  readonly port: number;
  readonly processId: number;
  /** Standard output and standard error received so far. */
  output(): string;
  /** The log lines that report a fault of the program. */
  faults(): string[];
  /** Resolves when the process has ended and all its output has arrived. */
  ended: Promise<Ending>;
  hasEnded(): boolean;
  /** Sends the signal; for SIGKILL it resolves when the process is gone. */
  kill(signal: NodeJS.Signals): Promise<void>;
}

interface SpawnOptions {
  /** The whole environment of the process, apart from a free port and a quiet log. */
  env: Record<string, string>;
  /** Arguments for Node itself, before the program. */
  nodeArgs?: string[];
  /** Arguments after the program. */
  args?: string[];
  /** The largest number of open files and sockets of the process. */
  maxDescriptors?: number;
  /** The compiled program; by default this build. */
  main?: string;
}

/** Starts the process and does not wait. */
export function spawnGateway({
  env,
  nodeArgs = [],
  args = [],
  maxDescriptors,
  main = MAIN,
}: SpawnOptions): GatewayProcess {
  const script = maxDescriptors ? `ulimit -n ${maxDescriptors}\n${EXEC_WITH_WARDEN}` : EXEC_WITH_WARDEN;
  const child = spawn('/bin/sh', ['-c', script, 'sh', process.execPath, ...nodeArgs, main, ...args], {
    env: { PORT: '0', LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const lifeline = child.stdio[3] as Writable;
  lifeline.on('error', () => {});
  let output = '';
  for (const stream of [child.stdout, child.stderr] as Readable[]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const ended = new Promise<Ending>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', () => lifeline.end('dismissed\n'));
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  return {
    get url() {
      const [, url] = /listens on (http:\S+)/.exec(output) ?? [];
      if (url === undefined) throw new Error(`the gateway has not said where it listens:\n${output}`);
      return url;
    },
    get port() {
      return Number(new URL(this.url).port);
    },
    get processId() {
      return Number(child.pid);
    },
    output: () => output,
    faults: () => output.split('\n').filter((line) => /^\{"level":[56]0/.test(line)),
    ended,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    kill: async (signal) => {
      child.kill(signal);
      if (signal === 'SIGKILL') await ended;
    },
  };
}

/** Starts the process and waits until `/readyz` answers 200. Rejects with the output if the process ends before. */
export async function startGateway(options: SpawnOptions): Promise<GatewayProcess> {
  const gateway = spawnGateway(options);
  await ready(gateway);
  return gateway;
}

export async function ready(gateway: GatewayProcess): Promise<void> {
  const isReady = async () => gateway.hasEnded() || (await fetch(`${gateway.url}/readyz`)).ok;
  await eventually('ready', isReady, 120_000);
  if (gateway.hasEnded()) throw new Error(`the gateway ended:\n${gateway.output()}`);
}

let tenants = 0;

/**
 * Creates a project in the migrated database of a gateway process; returns a token. Its change log is open at once: no
 * request began before.
 */
export async function createTenant(
  databaseUrl: string,
  plan: Plan = 'ENTERPRISE',
  { isLogged = false } = {},
): Promise<string> {
  const db = await Database.open(loadConfig({ DATABASE_URL: databaseUrl }).database, DATABASE_SCHEMA);
  const { projects, apiKeys } = createServices(db, () => Date.now() - LOG_OPENS_AFTER_MS);
  const actor = { name: 'test', requestId: null };
  tenants += 1;
  const slug = `tenant-${process.pid}-${tenants}`;
  const quota = plan === 'ENTERPRISE' ? QUOTA : null;
  const project = await projects.create(actor, { slug, name: null, plan, perMinute: quota, perDay: quota });
  const wanted = { projectId: project.id, name: 'test', scopes: SCOPES, expiresAtMs: null };
  const { token } = await apiKeys.create(actor, wanted);
  if (isLogged) await projects.change(actor, slug, { isLogged });
  await db.close();
  return token;
}

// The warden ends the gateway when this process dies without doing so: it reads a pipe whose other end only this
// process has open. Inside the subshell `$$` is still the process id of the shell, which is the gateway's.
const EXEC_WITH_WARDEN = `
( read -r line <&3 && exit
  kill -9 $$
) >/dev/null 2>&1 &
exec 3<&-
exec "$@"`;
