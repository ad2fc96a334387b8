import { type ChildProcess, spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { type Mutant, mutated } from './mutant.js';

/** Large folders without source. The tests use the first two through links. */
const LINKED = ['node_modules', '.cache'];
const LEFT_OUT = [...LINKED, '.git', 'screenshots', 'var', 'coverage'];
/** A careless rewrite would also remove the names that it no longer uses. */
const UNUSED_IS_FINE = ['--noUnusedLocals', 'false', '--noUnusedParameters', 'false'];
const TSC = 'node_modules/typescript/bin/tsc';
const COMPILE = [TSC, '--noEmit', ...UNUSED_IS_FINE];
const BUILD = [TSC, '-p', 'test', ...UNUSED_IS_FINE];
/** For all tests together. */
const LONGEST_RUN_MS = 20 * 60_000;

/** The names of the tests that ran, without their groups. */
export interface TestRun {
  passed: string[];
  failed: string[];
  /** The reason why a test file did not run; null = all ran. */
  problem: string | null;
  isLate: boolean;
}

interface TestOptions extends Partial<NonNullable<Mutant['process']>> {
  deadlineMs?: number;
}

interface JestResult {
  testResults: { message: string; assertionResults: { status: string; title: string }[] }[];
}

/** A temporary copy of the tree with its build, in which mutants are applied and tested. */
export class TreeCopy {
  private running: ChildProcess | undefined;

  private constructor(
    readonly root: string,
    private readonly signal: AbortSignal,
  ) {
    signal.addEventListener('abort', () => this.endRunning());
  }

  static async make(signal: AbortSignal): Promise<TreeCopy> {
    const root = await mkdtemp(join(tmpdir(), 'petstore-mutants-'));
    await cp('.', root, { recursive: true, filter: (path) => !LEFT_OUT.includes(basename(path)) });
    for (const folder of LINKED) await symlink(resolve(folder), join(root, folder));
    return new TreeCopy(root, signal);
  }

  /**
   * Compiles all mutants at once, each in a file beside its source. Returns the first error of each mutant that does not
   * fit or does not compile.
   */
  async check(mutants: readonly Mutant[]): Promise<Map<string, string>> {
    const problems = new Map<string, string>();
    const written: string[] = [];
    for (const mutant of mutants) {
      try {
        const file = join(this.root, 'src', mutant.file.replace(/ts$/, `${mutant.id}.mutant.ts`));
        await writeFile(file, mutated(await readFile(join(this.root, 'src', mutant.file), 'utf8'), mutant));
        written.push(file);
      } catch (error) {
        problems.set(mutant.id, (error as Error).message);
      }
    }
    const { output } = await this.run(COMPILE);
    for (const [error, id = ''] of output.matchAll(/^\S+\.([\w-]+)\.mutant\.ts\(.*$/gm)) {
      if (!problems.has(id)) problems.set(id, error);
    }
    for (const file of written) await rm(file);
    return problems;
  }

  /** Runs `work` on the tree with this mutant. */
  async with<T>({ file, ...mutant }: Mutant, work: () => Promise<T>): Promise<T> {
    const path = join(this.root, 'src', file);
    const source = await readFile(path, 'utf8');
    await writeFile(path, mutated(source, { file, ...mutant }));
    try {
      return await work();
    } finally {
      await writeFile(path, source);
    }
  }

  /** Compiles the tree as it is, for tests that start processes. */
  async build(): Promise<void> {
    await this.run(BUILD);
  }

  /** Runs the tests with these beginnings of names in these files, by default on SQLite. */
  async test(
    files: readonly string[],
    beginnings: readonly string[],
    { deadlineMs = LONGEST_RUN_MS, database = 'sqlite', round = '' }: TestOptions = {},
  ): Promise<TestRun> {
    const json = join(this.root, 'result.json');
    await rm(json, { force: true });
    const pattern = `(^| )(${beginnings.map(escaped).join('|')}).*${escaped(round)}`;
    const jest = ['node_modules/jest/bin/jest.js', '--runTestsByPath', ...files, '-t', pattern];
    const { code, output } = await this.run([...jest, '--json', '--outputFile', json], deadlineMs, database);
    if (code === null) return { passed: [], failed: [], problem: null, isLate: true };
    const text = await readFile(json, 'utf8').catch(() => null);
    if (text === null) return { passed: [], failed: [], problem: output.slice(-500), isLate: false };
    const results = (JSON.parse(text) as JestResult).testResults;
    const tests = results.flatMap(({ assertionResults }) => assertionResults);
    const of = (status: string) => tests.filter((test) => test.status === status).map(({ title }) => title);
    const broken = results.find(({ assertionResults }) => assertionResults.length === 0);
    return { passed: of('passed'), failed: of('failed'), problem: broken?.message ?? null, isLate: false };
  }

  async remove(): Promise<void> {
    await rm(this.root, { recursive: true, force: true });
  }

  /** The code is null when the process was ended, after its deadline or by the user. */
  private async run(
    args: string[],
    deadlineMs = LONGEST_RUN_MS,
    database = 'sqlite',
  ): Promise<{ code: number | null; output: string }> {
    this.signal.throwIfAborted();
    const env = { ...process.env, TEST_DATABASES: database };
    // In its own process group, so that the processes of a test end with it.
    const child = spawn(process.execPath, args, { cwd: this.root, env, detached: true });
    this.running = child;
    const deadline = setTimeout(() => this.endRunning(), deadlineMs);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        output = `${output}${chunk}`.slice(-100_000);
      });
    }
    const code = await new Promise<number | null>((done) => child.once('close', done));
    clearTimeout(deadline);
    this.running = undefined;
    this.signal.throwIfAborted();
    return { code, output };
  }

  private endRunning(): void {
    if (this.running?.pid !== undefined) process.kill(-this.running.pid, 'SIGKILL');
  }
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
