import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import petstoreGateway from '../../src/petstore.js';
import { type ExampleRun, Examples, FOLLOWERS, READERS } from '../support/clients/example.js';
import { petstoreHere } from '../support/command-line.js';
import { eventually } from '../support/eventually.js';
import { type GatewayProcess, startGateway } from '../support/gateway-process.js';
import { PETSTORE_MAIN } from '../support/pets/petstore.js';

const CLIENTS = [...READERS, ...FOLLOWERS];
/** They show the reason in the page; a longer wait than a minute they leave to the person. */
const PAGES = ['TanStack Query', 'SWR', 'React'];
const SITUATIONS = ['minute', 'day', 'banned', 'revoked'] as const;
type Situation = (typeof SITUATIONS)[number];
/** A minute of the quota, and time for a slow machine. */
const RECOVERY_MS = 100_000;
/** An example's time until its first request, on a slow machine. */
const BEGIN_MS = 20_000;
/** For the examples' own requests in a minute. */
const QUOTA = 120;
const PET = 'Minka';

/** An example and its key, which no other example has. */
interface Case {
  run: ExampleRun;
  key: string;
  keyId: string;
  /** Another key of its project. */
  spare: string;
}

let folder: string;
let gateway: GatewayProcess;
let examples: Examples;
let databaseUrl: string;
const cases = {} as Record<Situation, Case[]>;
/** Another key of the project of each situation. */
const spare = {} as Record<Exclude<Situation, 'banned'>, string>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'petstore-refusals-'));
  examples = await Examples.compileIn(folder);
  databaseUrl = `sqlite:${join(folder, 'petstore.sqlite')}`;
  gateway = await startGateway({ main: PETSTORE_MAIN, env: { DATABASE_URL: databaseUrl, DEMO: '0' } });
  for (const situation of SITUATIONS) await createCases(situation);
  await eventually('the change logs are open', isLogOpen, 60_000, 500);
  await repeatUntil(spare.day, 'rate_limited_day');
  await start([...cases.day, ...cases.revoked.filter(isFollower)]);
  await each(cases.revoked.filter(isFollower), 'follows', ({ run }) => run.isFollowing);
  for (const { keyId } of cases.revoked) await petstore('keys', 'revoke', keyId);
  await start(cases.revoked.filter((each) => !isFollower(each)));
  // Just before: a ban lasts a minute.
  await start(cases.banned, (key) => repeatUntil(key, 'key_banned'));
});

afterAll(async () => {
  await examples?.stop();
  await gateway?.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

test('Recipes-1: in a spent minute each example says why nothing comes and until when, and goes on in the next minute without a strike', async () => {
  const { minute } = cases;
  const following = minute.filter(isFollower);
  await start(following);
  await each(following, 'follows', ({ run }) => run.isFollowing);
  await spendMinute();
  let isSpending = true;
  const spending = (async () => {
    while (isSpending) await spendMinute();
  })();
  for (const { run } of following) {
    await run.proxy.set('reset');
    await run.watch();
  }
  await start(
    minute.filter((each) => !isFollower(each)),
    untilSpent,
  );
  const refused = each(minute, 'says why', ({ run }) =>
    /quota of this minute.*Try again in \d+ (s|min)/s.test(run.output),
  );
  await refused.finally(() => {
    isSpending = false;
    return spending;
  });
  await createPet(spare.minute, 'Rex 1');
  await each(minute, 'has gone on', hasPets, RECOVERY_MS);
  expect(await strikes(minute)).toEqual(none(minute));
});

test('Recipes-2: on a spent day each example says so, waits or ends, and makes no strike', async () => {
  await each(cases.day, 'says why', ({ run }) => /quota of this day.*Try again in /s.test(run.output));
  expect(await strikes(cases.day)).toEqual(none(cases.day));
  expect(cases.day.map(({ run }) => [run.client, run.statuses])).toEqual(
    cases.day.map(({ run }) => [run.client, [429]]),
  );
});

test('Recipes-3: with a banned key each example says so, sends nothing until the ban ends, and then goes on', async () => {
  const { banned } = cases;
  await each(banned, 'says why', ({ run }) => /temporarily banned.*Try again in /s.test(run.output));
  await each(banned.filter(isFollower), 'follows', ({ run }) => run.isFollowing, RECOVERY_MS);
  await Promise.all(banned.map(({ spare }) => createPet(spare, 'Rex 1')));
  await each(banned, 'has gone on', hasPets, RECOVERY_MS);
  expect(await strikes(banned)).toEqual(none(banned));
  expect(banned.map(({ run }) => [run.client, run.refusals(429)])).toEqual(
    banned.map(({ run }) => [run.client, 1]),
  );
});

test('Recipes-4: with a revoked key each example says so and ends', async () => {
  const { revoked } = cases;
  await each(revoked, 'says why', ({ run }) => /401|API key is missing or not valid/.test(run.output));
  const programs = revoked.filter(({ run }) => !PAGES.includes(run.client));
  await each(programs, 'ends', ({ run }) => run.exitCode !== null);
  for (const { run } of revoked) expect([run.client, run.refusals(401) <= 6]).toEqual([run.client, true]);
});

test('Recipes-5: without a gateway, and after a cut, an example that reads says so or reads again, without a strike', async () => {
  const keys = cases.banned.filter((each) => !isFollower(each));
  await Promise.all(
    keys.map(async ({ run, key }) => {
      await run.stop();
      const { client } = run;
      const [away, cut] = await Promise.all([
        examples.prepare(client, { name: 'away', port: gateway.port }),
        examples.prepare(client, { name: 'cut', port: gateway.port, cuts: [PET] }),
      ]);
      await away.proxy.set('refuse');
      await Promise.all([away.start(key), cut.start(key)]);
      const both = [away, cut].map((run) => ({ run }));
      await each(both, 'says why', ({ run }) =>
        /ECONN|connect|fetch|clos|terminated|hang up/i.test(run.output),
      );
      await away.watch();
      const isOver = ({ run }: Pick<Case, 'run'>) => hasPets({ run }) || (run.exitCode ?? 0) > 0;
      await each(both, 'ends', (each) => isOver(each) || PAGES.includes(client));
      expect(cut.cuts).toEqual([PET]);
    }),
  );
  expect(await strikes(keys)).toEqual(none(keys));
});

async function createCases(situation: Situation): Promise<void> {
  const shared = situation === 'banned' ? null : await createProject(situation, situation);
  if (shared !== null) spare[situation as keyof typeof spare] = shared;
  cases[situation] = [];
  for (const [at, client] of CLIENTS.entries()) {
    const run = await examples.prepare(client, { name: situation, port: gateway.port });
    // To get a key banned spends a minute's quota, in which an example of the same project might go on.
    const slug = shared === null ? `${situation}-${at}` : situation;
    const other = shared ?? (await createProject(slug, situation));
    const { key, id } = await petstore('keys', 'create', slug);
    cases[situation].push({ run, key, keyId: id, spare: other });
  }
}

/** Creates a project with a pet. Returns a key of it. */
async function createProject(slug: string, situation: Situation): Promise<string> {
  const quota = ['--per-minute', String(QUOTA), '--per-day', situation === 'day' ? '20' : '100000'];
  await petstore('projects', 'create', slug, '--plan', 'enterprise', ...quota);
  await petstore('projects', 'set', slug, '--changes', 'on');
  const { key } = await petstore('keys', 'create', slug);
  await createPet(key, PET);
  return key;
}

const petstore = async (...args: string[]) =>
  (await petstoreHere([...args, '--json'], { databaseUrl, gateway: petstoreGateway })).json;

/** Two at a time until their first answer: sixty at once would take the machine from the tests beside. */
async function start(cases: readonly Case[], before?: (key: string) => Promise<void>): Promise<void> {
  const waiting = [...cases];
  const startNext = async () => {
    for (let each = waiting.shift(); each; each = waiting.shift()) {
      const { run, key } = each;
      await before?.(key);
      await run.start(key);
      const hasBegun = () => run.statuses.length > 0 || run.exitCode !== null;
      await eventually(`${run.client} has begun: ${run.output}`, hasBegun);
    }
  };
  await Promise.all([startNext(), startNext()]);
}

const isFollower = ({ run }: Pick<Case, 'run'>) => FOLLOWERS.includes(run.client);

const hasPets = ({ run }: Pick<Case, 'run'>) =>
  run.output.includes(isFollower({ run }) ? 'Rex 1' : run.client === 'Cache' ? '200\n' : PET);

async function each<T extends Pick<Case, 'run'>>(
  cases: readonly T[],
  what: string,
  probe: (each: T) => boolean,
  withinMs = 60_000,
): Promise<void> {
  const missing = () => cases.filter((each) => !probe(each));
  await eventually(what, () => missing().length === 0, withinMs).catch((error) => {
    const outputs = missing().map(({ run }) => `${run.client}, ${run.statuses}:\n${run.output}`);
    throw new Error(`${error.message}\n${outputs.join('\n')}`);
  });
}

async function isLogOpen(): Promise<boolean> {
  const keys = [spare.minute, spare.revoked, ...cases.banned.map((each) => each.spare)];
  const answers = await Promise.all(keys.map((key) => get(key, '/v1/pets')));
  return answers.every(({ headers }) => headers.has('petstore-changes-cursor'));
}

/** Spends what the quota of the minute has left, in the moments in which it has something left. */
async function spendMinute(): Promise<void> {
  const { minute } = await usage(spare.minute);
  const requests = Array.from({ length: minute.remaining }, async () =>
    (await get(spare.minute, '/v1/pets')).text(),
  );
  await Promise.all(requests);
}

/** Resolves in a minute with nothing left, that lasts long enough for an example to begin in it. */
async function untilSpent(key: string): Promise<void> {
  const isSpent = async () => {
    const { minute } = await usage(key);
    return minute.remaining === 0 && minute.resetAtSeconds * 1000 - Date.now() > BEGIN_MS;
  };
  await eventually('a spent minute', isSpent, RECOVERY_MS, 200);
}

interface Usage {
  minute: { remaining: number; resetAtSeconds: number };
  ban: { strikes: number };
}

async function usage(key: string): Promise<Usage> {
  return (await (await get(key, '/v1/rate_limit')).json()) as Usage;
}

/** Sends requests until the answer has this code. */
async function repeatUntil(key: string, wanted: string): Promise<void> {
  const isRefused = async () => (await (await get(key, '/v1/pets')).text()).includes(wanted);
  await eventually(wanted, isRefused, 60_000, 0);
}

async function strikes(cases: readonly Case[]): Promise<[client: string, strikes: number][]> {
  return Promise.all(
    cases.map(async ({ run, key }) => {
      const { ban } = await usage(key);
      return [run.client, ban.strikes];
    }),
  );
}

const none = (cases: readonly Case[]) => cases.map(({ run }) => [run.client, 0]);

/** Creates a pet as soon as the quota allows it. */
async function createPet(key: string, name: string): Promise<void> {
  await eventually('a new minute', async () => (await usage(key)).minute.remaining > 0, 70_000, 200);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ name, categoryId: 1 });
  const { status } = await fetch(`${gateway.url}/v1/pets`, { method: 'POST', headers, body });
  expect(status).toBe(201);
}

function get(key: string, path: string): Promise<Response> {
  return fetch(`${gateway.url}${path}`, { headers: { authorization: `Bearer ${key}` } });
}
