import { type Build, buildOf, WORKING_TREE, workingCommit } from './build.js';
import { type Contestant, startGateway } from './contestant.js';
import { copiesOf, createDataset, dropDataset, type Tenant } from './dataset.js';
import type { Environment } from './environment.js';
import { withFloor } from './floor.js';
import { generateLoad } from './load-generator.js';
import type { RequestTemplate } from './load-job.js';
import { CONTESTANT_CORE, mainThreadTimeOf, moveTo, OTHER_CORE, processorTimeOf } from './processes.js';
import {
  checkCreates,
  checkLists,
  createRequest,
  type Door,
  everywhere,
  type Filter,
  listRequest,
} from './requests.js';
import { CONNECTIONS, withContestants } from './row.js';
import { type Comparison, compare, judge, type Verdict } from './significance.js';

/** V8 optimizes each process differently, so a build is measured in several processes. */
const PROCESSES = 12;
/** Of each process in a row. */
const TURNS = 5;
/** The first thousands of requests of a process cost up to twice as much as the later ones. */
const FIRST_WARM_UP = 8_000;
/** A new filter makes V8 discard code of the rows before. */
const LIST_WARM_UP = 1_500;
const MESSAGE_CHARACTERS = 120;
const FLOOR_AMOUNT = 3_000;
const PETS = 200_000;
/**
 * The limit of GraphQL's `createPet` is for each project: 300 a minute, and 60 in older builds. So pets are created for many
 * projects in turns; a process creates 8 for each of them.
 */
const WRITTEN_PROJECTS = 160;

interface Workload {
  name: string;
  /** Requests to each process before it is measured, and in a turn. */
  warmUp: number;
  amount: number;
  /** Rejects if a process does not answer as the others do. */
  check(contestants: readonly Contestant[]): Promise<void>;
  request(contestant: Contestant, tenants: Tenants): RequestTemplate;
}

interface Tenants {
  listed: Tenant;
  written: Tenant[];
}

/** Processes of a build, which share a database of their own. */
interface Side {
  build: Build;
  database: string;
  tenants: Tenants;
}

interface Team extends Side {
  processes: readonly Contestant[];
}

const NAMES: Record<Door, string> = { rest: 'REST', graphql: 'GraphQL' };

function list(door: Door, name: string, pages: 'first' | 'any', filter: Filter = {}): Workload {
  return {
    name: `${NAMES[door]} list, ${name}`,
    warmUp: LIST_WARM_UP,
    amount: pages === 'first' ? 1_200 : 450,
    check: (contestants) => checkLists(contestants, door, filter),
    request: (contestant, { listed }) =>
      listRequest(contestant, door, pages === 'first' ? 'first' : everywhere(listed, filter), filter),
  };
}

/** The check adds a pet at the end of the large project, where no page is read. */
function create(door: Door): Workload {
  return {
    name: `${NAMES[door]} createPet`,
    warmUp: 400,
    amount: 160,
    check: (contestants) => checkCreates(contestants, door),
    request: (contestant, { written }) => ({
      ...createRequest(contestant, door),
      tokens: written.map(({ token }) => token),
    }),
  };
}

/**
 * V8 optimizes a process further in each row. The cheapest row comes when most is done. The list by name comes last, because a
 * build that cannot answer it would be less warm in the next row.
 */
const WORKLOADS: readonly Workload[] = [
  ...(['rest', 'graphql'] as const).flatMap((door) => [
    list(door, 'random pages', 'any'),
    list(door, 'random pages of a common status', 'any', { status: 'available' }),
    list(door, 'random pages of a rare status', 'any', { status: 'sold' }),
    list(door, 'the same page', 'first'),
    create(door),
  ]),
  // REST has no filter by name.
  list('graphql', 'random pages by name', 'any', { nameStartsWith: 'Pet ' }),
];

/** Makes the processes warm before the first row. */
const FIRST = list('rest', 'the same page', 'first');
/** Shows the noise of the machine. */
const NOISE: Workload = { ...list('rest', 'random pages', 'any'), name: 'REST list, random pages, again' };

/** Processor time per answer, in microseconds. */
export interface Cost {
  name: string;
  /** Of the main thread: the others compile and collect at times of their own. */
  gatewayMicros: number;
  /** Of all of MySQL; 0 for a MySQL from `TEST_MYSQL_URL`. */
  databaseMicros: number;
  requestsPerSecond: number;
}

export interface AgainstRow {
  name: string;
  /** Of each build; the judged build is the last. */
  costs: Cost[];
  /** A server that sends the gateway's answer from a constant. */
  floor: Cost | null;
  comparisons: { against: string; pairs: number; comparison: Comparison }[];
  /** On each comparison. */
  verdicts: Verdict[];
}

interface Options {
  /** Commits to judge a build against. */
  commits: readonly string[];
  /** The commit to judge; null = the working tree. */
  judged: string | null;
  /** The names of the rows to measure. */
  only: RegExp;
}

/**
 * Measures what a request costs in a build and in older ones: with the same MySQL, pets and load, in short turns of
 * processes that run at the same time. `onProgress` gets a line after each row, and one for each build that could not answer a
 * row. Rejects if the judged build cannot answer a row.
 */
export async function measureAgainst(
  { commits, judged, only }: Options,
  environment: Environment,
  onProgress: (line: string) => void,
): Promise<AgainstRow[]> {
  const workloads = WORKLOADS.filter(({ name }) => only.test(name));
  if (workloads.length === 0) throw new Error(`no row matches ${only}`);
  const last = judged === null ? { ...WORKING_TREE, name: workingCommit() } : buildOf(judged);
  const builds = [...commits.map(buildOf), { ...last, name: `this, ${last.name}` }];
  const sides: Side[] = [];
  for (const [at, build] of builds.entries())
    sides.push(await sideOf(build, environment.mysqlUrl, `petstore_against_${at}`));
  const rows = await withTeams(sides, async (teams) => {
    const { mysqlProcessId } = environment;
    const newest = teams.at(-1) as Team;
    const measured: Omit<AgainstRow, 'verdicts'>[] = [];
    for (const { processes, tenants } of teams)
      for (const process of processes)
        await turnOf(process, FIRST.request(process, tenants), FIRST_WARM_UP, mysqlProcessId);
    for (const workload of workloads) {
      const startedAt = performance.now();
      const row = await rowOf(workload, await ableOf(workload, teams, onProgress), mysqlProcessId);
      measured.push({ ...row, floor: await floorOf(workload, newest) });
      onProgress(`${workload.name}: measured in ${Math.round((performance.now() - startedAt) / 1000)} s`);
    }
    // Last: its processes are then warmer than those of the other builds.
    const noise = await rowOf(NOISE, halvesOf(newest), mysqlProcessId);
    return [...measured, { ...noise, floor: null }];
  });
  for (const { database } of sides) await dropDataset(environment.mysqlUrl, database);
  const verdicts = judge(rows.flatMap(({ comparisons }) => comparisons.map(({ comparison }) => comparison)));
  return rows.map((row) => ({ ...row, verdicts: verdicts.splice(0, row.comparisons.length) }));
}

async function sideOf(build: Build, serverUrl: string, database: string): Promise<Side> {
  const projects = [{ pets: PETS }, { pets: 0 }];
  const [listed, written] = await createDataset(serverUrl, database, projects, build.folder);
  if (!listed || !written) throw new Error('both projects were asked for');
  return { build, database, tenants: { listed, written: await copiesOf(written, WRITTEN_PROJECTS) } };
}

/** Starts the processes of all sides in turns, on any core, so that no side is always the first. */
function withTeams<T>(sides: readonly Side[], work: (teams: Team[]) => Promise<T>): Promise<T> {
  const starting = Array.from({ length: PROCESSES }, () =>
    sides.map(({ build: { name, folder }, tenants }) =>
      startGateway(tenants.listed, { name, folder, cores: null }),
    ),
  ).flat();
  return withContestants(starting, (contestants) => {
    for (const { processId } of contestants) moveTo(CONTESTANT_CORE, processId);
    return work(
      sides.map((side, of) => ({
        ...side,
        processes: contestants.filter((_, at) => at % sides.length === of),
      })),
    );
  });
}

/** A build against itself. */
function halvesOf(team: Team): Team[] {
  return ['itself', team.build.name].map((name, half) => ({
    ...team,
    build: { ...team.build, name },
    processes: team.processes.filter((_, at) => at % 2 === half),
  }));
}

/** The teams that answer as the judged one does. */
async function ableOf(
  workload: Workload,
  teams: readonly Team[],
  onProgress: (line: string) => void,
): Promise<Team[]> {
  const [judged, ...others] = teams.toReversed() as [Team, ...Team[]];
  const processOf = ({ processes }: Team) => processes[0] as Contestant;
  await workload.check([processOf(judged)]);
  const able = [judged];
  for (const team of others) {
    try {
      await workload.check([processOf(judged), processOf(team)]);
      able.unshift(team);
    } catch (error) {
      onProgress(
        `${workload.name}: ${team.build.name} is LEFT OUT, ${(error as Error).message.slice(0, MESSAGE_CHARACTERS)}`,
      );
    }
  }
  return able;
}

/**
 * The processes take turns in rounds: before, after, after, before, and the next round the other way round. The cost of a
 * process is its median turn.
 */
async function rowOf(workload: Workload, teams: readonly Team[], mysqlProcessId: number | null) {
  const entrants = teams.map(({ processes, tenants }) =>
    processes.map((process) => {
      const request = workload.request(process, tenants);
      return {
        turn: (amount: number) => turnOf(process, request, amount, mysqlProcessId),
        turns: [] as Cost[],
      };
    }),
  );
  const pairs = (entrants[0] ?? []).map((_, pair) => {
    const ofPair = entrants.map((team) => team[pair] as (typeof team)[number]);
    return pair % 2 ? ofPair.toReversed() : ofPair;
  });
  const order = pairs.flat();
  for (const { turn } of order) await turn(workload.warmUp);
  for (let round = 0; round < TURNS; round += 1)
    for (const { turn, turns } of round % 2 ? order.toReversed() : order)
      turns.push(await turn(workload.amount));
  const costs = entrants.map((team) => team.map(({ turns }) => medianOf(turns)));
  const micros = (of: number) =>
    costs.at(of)?.map(({ gatewayMicros, databaseMicros }) => gatewayMicros + databaseMicros) ?? [];
  return {
    name: workload.name,
    costs: costs.map(medianOf),
    comparisons: teams.slice(0, -1).map(({ build }, of) => ({
      against: build.name,
      pairs: pairs.length,
      comparison: compare(micros(of), micros(-1)),
    })),
  };
}

function floorOf(workload: Workload, { processes, tenants }: Team): Promise<Cost> {
  const [gateway] = processes as [Contestant];
  const job = { origins: [gateway.origin], request: workload.request(gateway, tenants) };
  return withFloor(job, async (floor, request) => {
    const turn = () => turnOf(floor, request, FLOOR_AMOUNT, null);
    await turn();
    return medianOf([await turn(), await turn(), await turn()]);
  });
}

/** On a busy machine a process may refuse requests as overloaded, so a turn with a refusal is repeated once. */
async function turnOf(...turn: Parameters<typeof measureTurn>): Promise<Cost> {
  try {
    return await measureTurn(...turn);
  } catch {
    return measureTurn(...turn);
  }
}

async function measureTurn(
  { name, origin, processId }: Contestant,
  request: RequestTemplate,
  amount: number,
  mysqlProcessId: number | null,
): Promise<Cost> {
  const job = { origins: [origin], request, connections: CONNECTIONS, seconds: 0, requestsPerSecond: null };
  const ofGateway = mainThreadTimeOf(processId);
  const ofDatabase = mysqlProcessId === null ? () => 0 : processorTimeOf(mysqlProcessId);
  const { answered, requestsPerSecond } = await generateLoad({ ...job, amount }, OTHER_CORE);
  return {
    name,
    gatewayMicros: ofGateway() / answered,
    databaseMicros: ofDatabase() / answered,
    requestsPerSecond,
  };
}

/** Of turns, or of processes. */
function medianOf(all: readonly Cost[]): Cost {
  const median = (field: Exclude<keyof Cost, 'name'>) =>
    all.map((one) => one[field]).toSorted((a, b) => a - b)[all.length >> 1] ?? Number.NaN;
  return {
    name: all[0]?.name ?? '',
    gatewayMicros: median('gatewayMicros'),
    databaseMicros: median('databaseMicros'),
    requestsPerSecond: median('requestsPerSecond'),
  };
}
