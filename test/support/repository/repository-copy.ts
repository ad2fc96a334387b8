import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** A copy of the files that Git tracks or would track, without a build. It is a repository with one commit. */
export interface RepositoryCopy {
  readonly folder: string;
  /** Runs a command line in the copy. `output` has standard output and standard error as they came. */
  run(command: string): Promise<Finished>;
  /** Starts a command line in the copy, and returns while it runs. `remove` ends it. */
  start(command: string): RunningCommand;
  /** Ends every command with its children, and deletes the folder. */
  remove(): Promise<void>;
}

interface Finished {
  /** Null = a signal ended it. */
  readonly code: number | null;
  readonly output: string;
}

interface RunningCommand {
  output(): string;
  readonly finished: Promise<Finished>;
  /** Sends SIGTERM to the command and its children. */
  end(): Promise<Finished>;
}

/** These tell programs that they run inside a test. */
const OF_THIS_TEST = /^(NODE_ENV|JEST_WORKER_ID|TEST_LONG|FORCE_COLOR)$/;
const COMMIT =
  'git init -q && git add -A && git -c user.name=test -c user.email=test@localhost commit -qm copy';

export async function copyRepository(): Promise<RepositoryCopy> {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-copy-'));
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '--deduplicate', '-z']);
  const deleted = new Set(String(execFileSync('git', ['ls-files', '-d', '-z'])).split('\0'));
  const files = String(listed)
    .split('\0')
    .filter((file) => file !== '' && !deleted.has(file));
  await Promise.all(files.map((file) => cp(file, join(folder, file))));
  const running = new Set<ChildProcess>();
  const start = (command: string) => startIn(folder, command, running);
  const run = (command: string) => start(command).finished;
  const committed = await run(COMMIT);
  if (committed.code !== 0) throw new Error(`the copy has no commit:\n${committed.output}`);
  // After the commit, which would have the link: `.gitignore` names a folder.
  await symlink(resolve('node_modules'), join(folder, 'node_modules'));
  return {
    folder,
    run,
    start,
    async remove() {
      for (const child of running) signal(child, 'SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function startIn(folder: string, command: string, running: Set<ChildProcess>): RunningCommand {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !OF_THIS_TEST.test(name)));
  // In its own process group, so that its children end with it.
  const child = spawn('sh', ['-c', command], { cwd: folder, env, detached: true });
  running.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const finished = new Promise<Finished>((done, fail) => {
    child.once('error', fail);
    child.once('close', (code) => {
      running.delete(child);
      done({ code, output });
    });
  });
  return {
    output: () => output,
    finished,
    end() {
      signal(child, 'SIGTERM');
      return finished;
    },
  };
}

function signal(child: ChildProcess, name: NodeJS.Signals): void {
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    process.kill(-child.pid, name);
  }
}
