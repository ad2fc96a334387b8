import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { LoadJob, LoadResult } from './load-job.js';
import { spawnPinned } from './processes.js';

interface Generator {
  core: number | null;
  child: ChildProcess;
  answers: AsyncIterator<string>;
}

let generator: Generator | null = null;

/**
 * Runs the job in the load generator, on `core` (null = any). The generator's process is reused, because it must warm up
 * too. Rejects if any answer was not 2xx.
 */
export async function generateLoad(job: LoadJob, core: number | null): Promise<LoadResult> {
  if (generator?.core !== core) {
    generator?.child.kill('SIGKILL');
    generator = start(core);
  }
  const { child, answers } = generator;
  child.stdin?.write(`${JSON.stringify(job)}\n`);
  const { done, value } = await answers.next();
  if (!done) return JSON.parse(value) as LoadResult;
  generator = null;
  throw new Error('the load generator failed, for the reason above');
}

function start(core: number | null): Generator {
  const child = spawnPinned(core, [process.execPath, 'dist/bench/load.js'], {
    env: { PATH: String(process.env.PATH) },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const output = child.stdout as NodeJS.ReadableStream;
  return { core, child, answers: createInterface({ input: output })[Symbol.asyncIterator]() };
}
