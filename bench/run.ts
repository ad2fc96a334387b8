import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { measureAgainst } from './against.js';
import { workingCommit } from './build.js';
import { startEnvironment } from './environment.js';
import { canPin } from './processes.js';
import { printProfile } from './profile.js';
import {
  FULL_ROWS,
  machineOf,
  printAgainst,
  printRow,
  printTable,
  type RunResult,
  writeResults,
} from './report.js';
import type { Goal } from './row.js';
import { ROWS } from './rows.js';

const USAGE = `npm run bench                          every row; writes bench/results.json, its picture and the table in README.md
npm run bench -- quick                 shorter rounds, a smaller project, no peers without a goal, no cost of parts
npm run bench -- quick --against <commit>,…   the working tree against these commits; exit 1 if a row costs more
  --of <commit>                        this commit instead of the working tree
npm run bench -- --only 'list, cold'   the rows with this text in their name, no peers without a goal; writes nothing
  --rounds <n>  --seconds <n>          number of rounds, and their length
  --rows <n>                           pets in the large project, at least 250,000
  --peers                              with the peers without a goal
  --profile                            with --only: where the gateway spent its time`;

const { values: options, positionals } = (() => {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        only: { type: 'string' },
        rounds: { type: 'string' },
        seconds: { type: 'string' },
        rows: { type: 'string' },
        peers: { type: 'boolean', default: false },
        profile: { type: 'boolean', default: false },
        against: { type: 'string' },
        of: { type: 'string' },
      },
    });
  } catch (error) {
    return refuse((error as Error).message);
  }
})();
const isQuick = positionals[0] === 'quick';
if (positionals.length > (isQuick ? 1 : 0)) refuse(`unknown: ${positionals.join(' ')}`);
if (options.against !== undefined && !isQuick) refuse('--against needs quick');
if (options.profile && options.only === undefined) refuse('--profile needs --only');
const isShort = isQuick || options.only !== undefined;
const pace = {
  rounds: atLeast('rounds', 1, 3),
  seconds: atLeast('seconds', 0.5, options.profile ? 3 : isShort ? 0.6 : 8),
  warmUpSeconds: isShort ? 1 : 3,
};
const rows = ROWS.filter(
  ({ name, goal }) =>
    name.toLowerCase().includes((options.only ?? '').toLowerCase()) && !(isQuick && isOfParts(goal)),
);
if (rows.length === 0 && options.against === undefined)
  refuse(`no row contains ${options.only}. Rows:\n${ROWS.map(({ name }) => name).join('\n')}`);

const largeRows = atLeast('rows', 250_000, isShort ? FULL_ROWS / 10 : FULL_ROWS);
const failed: string[] = [];
const environment = await startEnvironment({ largeRows });
const profileFolder = options.profile ? await mkdtemp(join(tmpdir(), 'petstore-profile-')) : null;
try {
  if (options.against !== undefined) {
    const { against, of: judged = null, only = '' } = options;
    const compared = await measureAgainst(
      { commits: against.split(','), judged, only: new RegExp(only, 'i') },
      environment,
      console.log,
    );
    await environment.stop();
    process.exit(printAgainst(compared) ? 0 : 1);
  }
  const machine = machineOf(environment.mysqlVersion, canPin);
  const result: RunResult = {
    commit: workingCommit(),
    date: new Date().toISOString().slice(0, 10),
    isQuick: isShort,
    pace,
    largeRows,
    machine,
    rows: [],
  };
  for (const { name, goal, isInChart = false, run } of rows) {
    const setting = {
      environment,
      pace,
      withOrientation: !isShort || options.peers,
      largeRows,
      profileFolder,
    };
    const startedAt = performance.now();
    try {
      const row = { name, goal, isInChart, ...(await run(setting)) };
      result.rows.push(row);
      printRow(row, (performance.now() - startedAt) / 1000);
    } catch (error) {
      // The other rows take long to measure: keep them.
      console.error(`\nFAILED: ${name}\n`, error);
      failed.push(name);
    }
  }
  printTable(result);
  if (profileFolder !== null) await printProfile(profileFolder);
  if (failed.length > 0) console.error(`FAILED, nothing is written: ${failed.join('; ')}`);
  else if (result.commit.endsWith('+')) console.log('Nothing is written: src differs from the commit.');
  else if (options.only === undefined) await writeResults(result);
} finally {
  await environment.stop();
  if (profileFolder !== null) await rm(profileFolder, { recursive: true, force: true });
}
// Without this Node would wait for the load generator.
process.exit(failed.length > 0 ? 1 : 0);

/** Shares and additions of parts of the gateway: small figures, which take long to measure. */
function isOfParts({ unit }: Goal): boolean {
  return unit === '%' || unit === 'µs';
}

function atLeast(name: 'rounds' | 'seconds' | 'rows', least: number, fallback: number): number {
  const given = options[name];
  if (given === undefined) return fallback;
  const number = Number(given);
  return number >= least ? number : refuse(`--${name} must be a number of at least ${least}`);
}

function refuse(problem: string): never {
  console.error(`${problem}\n\n${USAGE}`);
  process.exit(2);
}
