import { parseArgs } from 'node:util';
import { beginningOf, type Mutant, testFileOf, testSources } from './mutant.js';
import { MUTANTS } from './mutants.js';
import { type TestRun, TreeCopy } from './tree-copy.js';

const USAGE = `npm run test:mutants                     applies each mutant to a copy of the tree, and runs its tests
  --area <name>   the mutants of an area: ${Object.keys(MUTANTS).join(', ')}
  --only <text>   the mutants with this text in their id
  --json          one JSON object on standard output`;
const GOAL = 0.9;
/** Ends the tests of a mutant that makes them wait for ever. */
const DEADLINE_MS = 120_000;

type Outcome = 'killed' | 'survived' | 'broken';

interface Verdict {
  outcome: Outcome;
  /** The tests that failed, or the reason why the mutant is broken. */
  notes: string[];
}

interface Result extends Verdict {
  id: string;
  area: string;
  seconds: number;
}

interface Selected {
  area: string;
  mutant: Mutant;
}

const { area, only, json } = options();
const selected = Object.entries(MUTANTS)
  .filter(([name]) => area === undefined || name === area)
  .flatMap(([name, mutants]) => mutants.map((mutant) => ({ area: name, mutant })))
  .filter(({ mutant }) => mutant.id.includes(only));
if (selected.length === 0) refuse('no mutant has this area and id');

const interrupt = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => interrupt.abort(new Error('interrupted')));
}
const tree = await TreeCopy.make(interrupt.signal);
try {
  const results = await judgeAll(selected);
  if (json) console.log(JSON.stringify({ ...shareOf(results), mutants: results }));
  else for (const line of summary(results)) console.log(line);
  const { killed, broken } = shareOf(results);
  process.exitCode = broken > 0 || killed < GOAL * results.length ? 1 : 0;
} finally {
  await tree.remove();
}

async function judgeAll(all: readonly Selected[]): Promise<Result[]> {
  const sources = await testSources(tree.root);
  const problems = await tree.check(all.map(({ mutant }) => mutant));
  const red = await redTests(all, sources);
  const results: Result[] = [];
  for (const { area, mutant } of all) {
    const beganAtMs = performance.now();
    const redTest = red.find((name) => mutant.tests.some((test) => name.startsWith(beginningOf(test))));
    const problem = problems.get(mutant.id) ?? (redTest && `fails without the mutant: ${redTest}`);
    const verdict = problem === undefined ? await judge(mutant, sources) : broken(problem);
    const seconds = Math.round((performance.now() - beganAtMs) / 100) / 10;
    results.push({ id: mutant.id, area, ...verdict, seconds });
    const place = `${results.length}/${all.length}`.padStart(7);
    console.error(
      `${place} ${verdict.outcome.padEnd(8)} ${mutant.id}: ${verdict.notes.join(', ')} (${seconds} s)`,
    );
  }
  return results;
}

/** The tests that fail without a mutant, and therefore say nothing about one. Throws when a file does not run. */
async function redTests(all: readonly Selected[], sources: ReadonlyMap<string, string>): Promise<string[]> {
  const built = all.filter(({ mutant }) => mutant.process);
  const runs: TestRun[] = [];
  for (const database of ['sqlite', 'mysql'] as const) {
    const others = all.filter(({ mutant }) => !mutant.process && databaseOf(mutant) === database);
    const tests = [...new Set(others.flatMap(({ mutant }) => mutant.tests))];
    console.error(`        ${tests.length} tests without a mutant, on ${database}`);
    if (tests.length > 0) runs.push(await run(tests, sources, { database }));
  }
  for (const { mutant } of built) runs.push(await run(mutant.tests, sources, mutant.process));
  for (const { problem, isLate } of runs)
    if (problem !== null || isLate) throw new Error(problem ?? 'the tests take too long');
  return runs.flatMap(({ failed }) => failed);
}

async function judge(mutant: Mutant, sources: ReadonlyMap<string, string>): Promise<Verdict> {
  const { passed, failed, problem, isLate } = await tree.with(mutant, async () => {
    if (mutant.process) await tree.build();
    return run(mutant.tests, sources, {
      deadlineMs: DEADLINE_MS,
      database: databaseOf(mutant),
      ...mutant.process,
    });
  });
  if (mutant.process) await tree.build();
  if (isLate) return { outcome: 'killed', notes: ['no result in time'] };
  if (failed.length > 0) return { outcome: 'killed', notes: [...new Set(failed.map(shortName))] };
  if (problem !== null) return broken(problem);
  return passed.length > 0 ? { outcome: 'survived', notes: [...mutant.tests] } : broken('no test ran');
}

function databaseOf({ database = 'sqlite' }: Mutant) {
  return database;
}

function run(
  tests: readonly string[],
  sources: ReadonlyMap<string, string>,
  options?: Parameters<TreeCopy['test']>[2],
): Promise<TestRun> {
  const files = new Set(tests.map((test) => testFileOf(test, sources)));
  return tree.test([...files], tests.map(beginningOf), options);
}

function broken(problem: string): Verdict {
  return { outcome: 'broken', notes: [problem] };
}

/** The rule id of a test, or its name. */
function shortName(name: string): string {
  return /^[\w-]+-\d+(?=: )/.exec(name)?.[0] ?? name;
}

function shareOf(results: readonly Result[]) {
  const count = (outcome: Outcome) => results.filter((result) => result.outcome === outcome).length;
  return {
    total: results.length,
    killed: count('killed'),
    survived: count('survived'),
    broken: count('broken'),
  };
}

function summary(results: readonly Result[]): string[] {
  const areas = [...new Set(results.map(({ area }) => area))];
  const line = (name: string, of: readonly Result[]) => {
    const { total, killed, survived, broken } = shareOf(of);
    return `${name.padEnd(14)}${killed} of ${total} killed, ${survived} survived, ${broken} broken`;
  };
  const ofArea = (name: string) => results.filter(({ area }) => area === name);
  return [...areas.map((name) => line(name, ofArea(name))), line('all', results)];
}

function options() {
  try {
    const { values } = parseArgs({
      options: {
        area: { type: 'string' },
        only: { type: 'string', default: '' },
        json: { type: 'boolean', default: false },
      },
    });
    return values;
  } catch (error) {
    return refuse((error as Error).message);
  }
}

function refuse(reason: string): never {
  console.error(`${reason}\n\n${USAGE}`);
  process.exit(2);
}
