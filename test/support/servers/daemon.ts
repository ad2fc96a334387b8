import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';

/** A program as a file, with the arguments that come before the program's own. */
export interface Program {
  file: string;
  args: string[];
}

export interface DaemonOptions {
  program: Program;
  args: string[];
  /** Removed when this Node process dies without stopping the daemon. */
  home: string;
  /** Receives standard output and standard error. */
  logFile: string;
}

/** A server process that never outlives the Node process that started it, even if that is killed with SIGKILL. */
export class Daemon {
  private readonly child: ChildProcess;
  private readonly gone: Promise<void>;
  private failure: Error | undefined;

  constructor(private readonly options: DaemonOptions) {
    const { program, args, home, logFile } = options;
    const log = openSync(logFile, 'a');
    // A separate session: Ctrl-C in the terminal reaches Node only, and the warden waits for Node's end.
    this.child = spawn('/bin/sh', ['-c', EXEC_WITH_WARDEN, home, program.file, ...program.args, ...args], {
      stdio: ['ignore', log, log, 'pipe'],
      detached: true,
    });
    closeSync(log);
    const lifeline = this.child.stdio[3] as Writable & { unref(): void };
    lifeline.on('error', () => {});
    this.gone = new Promise((resolve) => {
      this.child.once('error', (error) => {
        this.failure = error;
        resolve();
      });
      this.child.once('exit', (code, signal) => {
        this.failure ??= new Error(`${program.file} ended (${signal ?? `exit code ${code}`})`);
        lifeline.end('dismissed\n');
        resolve();
      });
    });
    this.child.unref();
    lifeline.unref();
  }

  get isRunning(): boolean {
    return this.failure === undefined;
  }

  /** Sends the signal. Resolves for SIGKILL and SIGTERM when the process is gone, for SIGSTOP when it no longer runs. */
  async kill(signal: NodeJS.Signals): Promise<void> {
    this.child.kill(signal);
    if (signal === 'SIGSTOP') {
      // On several processors a thread continues for a moment and could answer a query sent after the signal.
      while (this.isRunning && hasRunningThread(this.child.pid)) await pause(1);
    }
    if (signal !== 'SIGKILL' && signal !== 'SIGTERM') return;
    // A stopped process does not receive SIGTERM.
    this.child.kill('SIGCONT');
    this.child.ref();
    await this.gone;
  }

  /** Resolves when `probe` does. Rejects with the end of the log when the process ends first or the time is up. */
  async waitUntil(probe: () => Promise<void>, withinMilliseconds = 60_000): Promise<void> {
    const deadline = Date.now() + withinMilliseconds;
    for (;;) {
      try {
        await probe();
        return;
      } catch (error) {
        if (!this.isRunning || Date.now() > deadline) {
          const log = readFileSync(this.options.logFile, 'utf8').slice(-4000);
          throw new Error(`${(this.failure ?? (error as Error)).message}\n${log}`, {
            cause: this.failure ?? error,
          });
        }
        await pause(50);
      }
    }
  }
}

/** Ports below those that systems give to connections and to `listen(0)`, of each of four workers. */
const FIRST_PORT = 20_000;
const PORTS_OF_WORKER = 3_192;
let handedOut = randomInt(PORTS_OF_WORKER);

/**
 * Returns a port that nothing listens on now. Each worker has its own, and returns one after the other: a port that is taken
 * only later, or again after a kill, is given to no other server.
 */
export async function freePort(): Promise<number> {
  const first = FIRST_PORT + (Number(process.env.JEST_WORKER_ID ?? 1) % 4) * PORTS_OF_WORKER;
  for (;;) {
    handedOut += 1;
    const port = first + (handedOut % PORTS_OF_WORKER);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

// Reads /proc; without /proc, as on macOS, the answer is no.
function hasRunningThread(processId: number | undefined): boolean {
  try {
    const tasks = `/proc/${processId}/task`;
    return readdirSync(tasks).some(
      (thread) => !/\) T /.test(readFileSync(`${tasks}/${thread}/stat`, 'utf8')),
    );
  } catch {
    return false;
  }
}

// The warden, forked before the shell becomes the daemon, reads a pipe whose other end only Node has open: a line means
// that the daemon has ended, end of file that Node has. Inside the subshell `$$` is still the process id of the shell,
// which is the daemon's; `$0` is its home. The pause lets the killed process close its files before they are removed.
const EXEC_WITH_WARDEN = `
( read -r line <&3 && exit
  kill -9 $$
  sleep 1
  rm -rf "$0"
) >/dev/null 2>&1 &
exec 3<&-
exec "$@"`;
