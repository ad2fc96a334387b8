import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'lossless-json';

const MAIN = resolve('dist/src/cli/main.js');
/** As `npm run petstore` gives them. */
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
const NODE_FLAGS: string[] = scripts.petstore.split(' ').filter((word: string) => word.startsWith('--'));

const NOBODY = 65_534;

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
  /** Standard output as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of many shapes; a wrong look fails the test.
  readonly json: any;
}

interface RunOptions {
  databaseUrl?: string;
  cwd?: string;
  /** For standard input. */
  input?: string;
  env?: Record<string, string>;
  /** Where this process is root's, which may write everywhere. */
  isUnprivileged?: boolean;
  onStart?: (child: ChildProcess) => void;
}

/** Runs the built `petstore` as a user would, in a process of its own. */
export function petstore(args: string[], options: RunOptions = {}): Promise<Ended> {
  const { databaseUrl, cwd, input = '', env = {}, isUnprivileged = false, onStart } = options;
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
  // A command that does not read its input may have ended before it was written.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  onStart?.(child);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) =>
      resolve({
        code,
        stdout,
        stderr,
        get json() {
          return toJson(stdout);
        },
      }),
    );
  });
}

function toJson(stdout: string): unknown {
  if (!/^\{.*\}\n$/.test(stdout)) throw new Error(`not exactly one JSON object: ${stdout}`);
  return parse(stdout, null, Number);
}
