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
 * Has the job done by the load generator, which runs on this core (null = on any) and is kept, as it needs to warm up,
 * too. Rejects when any request was not answered with 2xx.
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
  throw new Error('the load generator gave up, for the reason above');
}

function start(core: number | null): Generator {
  const child = spawnPinned(core, [process.execPath, 'dist/bench/load.js'], {
    env: { PATH: String(process.env.PATH) },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const output = child.stdout as NodeJS.ReadableStream;
  return { core, child, answers: createInterface({ input: output })[Symbol.asyncIterator]() };
}
