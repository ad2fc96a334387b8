import { type Build, buildOf, WORKING_TREE, workingCommit } from './build.js';
import { type Contestant, startGateway } from './contestant.js';
import { createDataset, dropDataset, type Tenant } from './dataset.js';
import { measureAboveFloor } from './floor.js';
import type { RequestTemplate } from './load-job.js';
import { type Measured, measureInTurns, median, type Pace } from './measure.js';
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
import { type Comparison, compare } from './significance.js';

/** V8 optimizes each process differently, so a build is measured in several processes. */
const PROCESSES = 5;
const PETS = 200_000;
/** Five processes of each build cannot show less than 0.008. */
const MOST_PROBABILITY = 0.01;
/** A smaller difference is no reason to refuse a change. */
const LEAST_DIFFERENCE = 0.02;
const PACE: Pace = { rounds: 2, seconds: 0.6, warmUpSeconds: 0.4, warmUpAnswers: 1_500 };

interface Workload {
  name: string;
  /** The request, for the tenant of a build. Rejects if a process does not answer it as the others do. */
  check(contestants: readonly Contestant[]): Promise<void>;
  request(contestant: Contestant, tenant: Tenant): RequestTemplate;
  /** Whether it writes: it then has a project without pets. */
  isWrite?: true;
}

interface Tenants {
  listed: Tenant;
  written: Tenant;
}

/** Processes of a build, which share a database of their own. */
interface Side {
  build: Build;
  tenants: Tenants;
}

function list(door: Door, name: string, pages: 'first' | 'any', filter: Filter = {}): Workload {
  return {
    name: `${door === 'rest' ? 'REST' : 'GraphQL'} list, ${name}`,
    check: (contestants) => checkLists(contestants, door, filter),
    request: (contestant, tenant) =>
      listRequest(contestant, door, pages === 'first' ? 'first' : everywhere(tenant, filter), filter),
  };
}

const WORKLOADS: readonly Workload[] = [
  ...(['rest', 'graphql'] as const).flatMap((door) => [
    list(door, 'the same page', 'first'),
    list(door, 'random pages', 'any'),
    list(door, 'random pages of a common status', 'any', { status: 'available' }),
    list(door, 'random pages of a rare status', 'any', { status: 'sold' }),
  ]),
  // REST has no filter by name.
  list('graphql', 'random pages by name', 'any', { nameStartsWith: 'Pet ' }),
  // A project may call GraphQL's createPet 300 times a minute: nothing to measure.
  { name: 'createPet, REST', check: checkCreates, request: createRequest, isWrite: true },
];
/** The same build twice shows the noise of the machine. */
const NOISE = [WORKLOADS[0], WORKLOADS[5]] as Workload[];

export interface AgainstRow {
  name: string;
  before: Measured;
  after: Measured;
  /** Null = not measured for this row. */
  floor: Measured | null;
  comparison: Comparison;
  verdict: 'faster' | 'slower' | 'within the noise';
}

/**
 * Measures the working tree against a commit: on the same MySQL, with the same pets and load, in turns. A row that seems
 * slower is measured once more with new processes, and is slower only if both measurements say so. `serverUrl` names no
 * database. Calls `onRow` after each row. Returns whether no row is slower.
 */
export async function measureAgainst(
  commit: string,
  serverUrl: string,
  onRow: (row: AgainstRow | { name: string; problem: string }) => void,
): Promise<boolean> {
  const before = await sideOf(buildOf(commit), serverUrl, 'petstore_against_before');
  const after = await sideOf({ ...WORKING_TREE, name: workingCommit() }, serverUrl, 'petstore_against_after');
  const suspects: Workload[] = [];
  let isSlower = false;
  await withSides([before, after, after], async (groups) => {
    const [ofBefore, ofAfter, again] = groups as [Contestant[], Contestant[], Contestant[]];
    for (const workload of NOISE) {
      const row = await rowOf(workload, [after, ofAfter], [after, again], false);
      onRow({ ...row, name: `${workload.name}: ${after.build.name} twice` });
    }
    for (const workload of WORKLOADS) {
      try {
        const row = await rowOf(workload, [before, ofBefore], [after, ofAfter], true);
        if (row.verdict === 'slower') suspects.push(workload);
        else onRow(row);
      } catch (error) {
        onRow({ name: workload.name, problem: (error as Error).message });
      }
    }
  });
  if (suspects.length > 0)
    await withSides([before, after], async (groups) => {
      const [ofBefore, ofAfter] = groups as [Contestant[], Contestant[]];
      for (const workload of suspects) {
        const row = await rowOf(workload, [before, ofBefore], [after, ofAfter], false);
        isSlower ||= row.verdict === 'slower';
        onRow({ ...row, name: `${row.name}, measured again` });
      }
    });
  for (const { tenants } of [before, after]) await dropDataset(serverUrl, databaseOf(tenants));
  return !isSlower;
}

async function sideOf(build: Build, serverUrl: string, database: string): Promise<Side> {
  const projects = [{ pets: PETS }, { pets: 0 }];
  const [listed, written] = await createDataset(serverUrl, database, projects, build.folder);
  if (!listed || !written) throw new Error('both projects were asked for');
  return { build, tenants: { listed, written } };
}

const databaseOf = ({ listed }: Tenants) => new URL(listed.databaseUrl).pathname.slice(1);

/** Starts the processes of all sides in turns, so that none is always the first. */
function withSides<T>(sides: readonly Side[], work: (groups: Contestant[][]) => Promise<T>): Promise<T> {
  const starting = Array.from({ length: PROCESSES }, () =>
    sides.map(({ build, tenants }) =>
      startGateway(tenants.listed, { name: build.name, folder: build.folder }),
    ),
  ).flat();
  return withContestants(starting, (contestants) =>
    work(sides.map((_, side) => contestants.filter((_, at) => at % sides.length === side))),
  );
}

type Team = readonly [side: Side, processes: readonly Contestant[]];

async function rowOf(workload: Workload, one: Team, other: Team, hasFloor: boolean): Promise<AgainstRow> {
  const teams = [one, other].map(([{ tenants }, processes]) => {
    const tenant = workload.isWrite ? tenants.written : tenants.listed;
    return processes.map((process) => ({ tenant, contestant: { ...process, token: tenant.token } }));
  });
  for (const team of teams) await workload.check(team.map(({ contestant }) => contestant));
  // The sides take turns, and each begins every other time.
  const turns = Array.from({ length: PROCESSES }, (_, at) => {
    const pair = teams.map((team) => team[at]);
    return at % 2 ? pair.toReversed() : pair;
  });
  const entrants = turns.flat().filter((entrant) => entrant !== undefined);
  const request = (entrant: (typeof entrants)[number]) =>
    workload.request(entrant.contestant, entrant.tenant);
  const subjects = entrants.map((entrant) => subjectOf(entrant.contestant, request(entrant)));
  const measured = await (hasFloor ? measureAboveFloor : measureInTurns)(subjects, PACE);
  const resultsOf = (team: (typeof teams)[number]) =>
    team.map(
      ({ contestant }) =>
        measured[entrants.findIndex((entrant) => entrant.contestant === contestant)] as Measured,
    );
  const [before, after] = teams.map(resultsOf) as [Measured[], Measured[]];
  const rates = (results: Measured[]) => results.map(({ requestsPerSecond }) => requestsPerSecond);
  const comparison = compare(rates(before), rates(after));
  return {
    name: workload.name,
    before: middleOf(before),
    after: middleOf(after),
    floor: hasFloor ? (measured.at(-1) as Measured) : null,
    comparison,
    verdict: verdictOf(comparison),
  };
}

function verdictOf({ ratio, probability }: Comparison): AgainstRow['verdict'] {
  if (probability > MOST_PROBABILITY || Math.abs(ratio - 1) < LEAST_DIFFERENCE) return 'within the noise';
  return ratio < 1 ? 'slower' : 'faster';
}

function subjectOf({ name, origin, processId }: Contestant, request: RequestTemplate) {
  const job = { origins: [origin], request, connections: CONNECTIONS, seconds: 0, requestsPerSecond: null };
  return { name, processIds: [processId], job };
}

function middleOf(results: readonly Measured[]): Measured {
  const of = (field: Exclude<keyof Measured, 'name'>) =>
    median(results.map((result) => result[field] ?? Number.NaN));
  return {
    name: results[0]?.name ?? '',
    requestsPerSecond: of('requestsPerSecond'),
    p50Ms: of('p50Ms'),
    p99Ms: of('p99Ms'),
    cpuMicros: of('cpuMicros'),
    busyCores: of('busyCores'),
  };
}
