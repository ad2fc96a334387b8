import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { parse } from 'lossless-json';
import type { Gateway } from '../../src/app/gateway.js';
import { Output } from '../../src/cli/output.js';
import { runProgram } from '../../src/cli/program.js';
import toysGateway from './gateway/toys-gateway.js';

export const MAIN = resolve('dist/src/cli/main.js');
/** Its package.json names the gateway of the tests. */
export const FOLDER = resolve('test/support/gateway');
/** The Node flags of `npm run petstore`. */
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
const NODE_FLAGS: string[] = scripts.petstore.split(' ').filter((word: string) => word.startsWith('--'));

const NOBODY = 65_534;

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
  /** Standard output as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: answers have many shapes; a wrong access fails the test.
  readonly json: any;
}

interface RunOptions {
  databaseUrl?: string;
  cwd?: string;
  /** Sent to standard input. */
  input?: string;
  env?: Record<string, string>;
  /** Drops the rights of root, which may write everywhere, if this process has them. */
  isUnprivileged?: boolean;
  onStart?: (child: ChildProcess) => void;
}

/** Runs the built `petstore` in a separate process, as a user does in the folder of the tests' gateway. */
export function petstore(args: string[], options: RunOptions = {}): Promise<Ended> {
  const { databaseUrl, cwd = FOLDER, input = '', env = {}, isUnprivileged = false, onStart } = options;
  const child = spawn(process.execPath, [...NODE_FLAGS, MAIN, ...args], {
    cwd,
    ...(isUnprivileged && process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}),
    env: { ...process.env, ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }), ...env },
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  // A command that does not read its input may end before the input is written.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  onStart?.(child);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(ended(code, stdout, stderr)));
  });
}

/** A new folder with the gateway's package.json above it: `petstore` finds it from there. */
export async function workFolder(): Promise<string> {
  const above = await mkdtemp(join(tmpdir(), 'petstore-test-'));
  const manifest = { petstore: { gateway: resolve('dist/test/support/gateway/toys-gateway.js') } };
  await writeFile(join(above, 'package.json'), JSON.stringify(manifest));
  await chmod(above, 0o755);
  const folder = join(above, 'work');
  await mkdir(folder);
  return folder;
}

interface HereOptions extends Pick<RunOptions, 'databaseUrl' | 'env' | 'input'> {
  gateway?: Gateway;
}

let lastRun: Promise<unknown> = Promise.resolve();

/**
 * Runs one command of `petstore` in this process, one at a time: 50 times as fast as a process for each. For cases that differ
 * only in what a command decides and prints. Signals, the progress bar and the exit of the process need
 * `petstore`.
 */
export function petstoreHere(
  args: string[],
  { databaseUrl, env = {}, input = '', gateway = toysGateway }: HereOptions = {},
): Promise<Ended> {
  const settings = { ...env, ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }) };
  const run = lastRun.then(async () => {
    let stdout = '';
    let stderr = '';
    const output = new Output(args.includes('--json'), {
      stdout: { write: (text) => (stdout += text) },
      stderr: { write: (text) => (stderr += text) },
    });
    const before = process.env;
    process.env = { ...before, ...settings };
    try {
      return ended(
        await runProgram(gateway, args, output, Readable.from([Buffer.from(input)])),
        stdout,
        stderr,
      );
    } finally {
      process.env = before;
    }
  });
  lastRun = run.catch(() => {});
  return run;
}

function ended(code: number | null, stdout: string, stderr: string): Ended {
  return {
    code,
    stdout,
    stderr,
    get json() {
      if (!/^\{.*\}\n$/.test(stdout)) {
        throw new Error(`not exactly one JSON object, but exit code ${code}: ${stdout}${stderr}`);
      }
      return parse(stdout, null, Number);
    },
  };
}
