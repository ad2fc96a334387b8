import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import petstoreGateway from '../../src/petstore.js';
import { DOCUMENT, type ExampleRun, Examples, FOLLOWERS, READERS } from '../support/clients/example.js';
import { petstoreHere } from '../support/command-line.js';
import { eventually } from '../support/eventually.js';
import { type GatewayProcess, startGateway } from '../support/gateway-process.js';
import { PETSTORE_MAIN } from '../support/pets/petstore.js';
import { freePort } from '../support/servers/daemon.js';

/** The connection is cut within the first name, and behind the change of the second. */
const CUT_WITHIN = 'Rex 3';
const CUT_BEHIND = 'Rex 5';

/** Often enough, and within the quota of the plan. */
const POLL_MS = 500;

let folder: string;
let settings: Record<string, string>;
let gateway: GatewayProcess;
let apiKey: string;
let examples: Examples;
let followers: ExampleRun[];
let readers: ExampleRun[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'petstore-clients-'));
  examples = await Examples.compileIn(folder);
  const port = await freePort();
  const cuts = [CUT_WITHIN, CUT_BEHIND];
  followers = await Promise.all(
    FOLLOWERS.map((client) => examples.prepare(client, { name: 'follows', port, cuts })),
  );
  readers = await Promise.all(READERS.map((client) => examples.prepare(client, { name: 'reads', port })));
  const databaseUrl = `sqlite:${join(folder, 'petstore.sqlite')}`;
  settings = {
    DATABASE_URL: databaseUrl,
    DEMO: '0',
    PORT: String(port),
    SHUTDOWN_SECONDS: '4',
    // REST's links lead there, and must lead through the proxy.
    PUBLIC_BASE_URL: followers.at(-1)?.url ?? '',
  };
  gateway = await startGateway({ main: PETSTORE_MAIN, env: settings });
  const petstore = (...args: string[]) =>
    petstoreHere([...args, '--json'], { databaseUrl, gateway: petstoreGateway });
  await petstore('projects', 'create', 'shop', '--plan', 'pro');
  apiKey = (await petstore('keys', 'create', 'shop')).json.key;
  await petstore('projects', 'set', 'shop', '--changes', 'on');
});

afterAll(async () => {
  await examples?.stop();
  await gateway?.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

test(`Clients-1: ${DOCUMENT} has an example for each client, and its types are right`, () => {
  expect(examples.all.map(({ client }) => client)).toEqual([...READERS, ...FOLLOWERS]);
  expect(examples.problems).toBe('');
});

test('Clients-3: the examples read every page, keep an unchanged page, and show a list of React with its later pages', async () => {
  const names = Array.from({ length: 130 }, (_, at) => `Cat ${at}`);
  for (const part of [names.slice(0, 100), names.slice(100)]) {
    const inputs = part.map((name) => `{ name: "${name}", categoryId: "1" }`);
    await mutate(`createPets(inputs: [${inputs}]) { id }`);
  }
  const shown: Record<string, string> = {};
  for (const reader of readers)
    shown[reader.client] = (await reader.finish(apiKey)).replace('Loading…\n', '');
  const { Pages: pages = '', Cache: cache, Python: python, React: react = '', ...others } = shown;
  expect([...pages.matchAll(/"name":"([^"]+)"/g)].map(([, name]) => name)).toEqual(names);
  expect(python).toBe(`${names.join('\n')}\n`);
  expect(cache).toBe('200\n');
  expect(await readers[READERS.indexOf('Cache')]?.finish(apiKey)).toBe('304\n');
  expect(JSON.parse(await readFile(join(folder, 'Cache-reads', 'page.json'), 'utf8'))).toHaveLength(20);
  const first = names.slice(0, 20);
  const list = `${first.join('\n')}\n`;
  expect(others).toEqual({
    axios: list,
    ky: list,
    SWR: list,
    'TanStack Query': list,
  });
  const [more, all] = [
    [...first, 'More'],
    [...names.slice(0, 40), 'More'],
  ];
  expect(react.trim().split('\n')).toEqual([...more, ...all]);
});

test('Clients-2: each example prints each change once and in order, through two cut connections, a restart and an overload, without a strike', async () => {
  const isOpen = async () => {
    const answer = await call('/v1/pets');
    await answer.arrayBuffer();
    return answer.headers.has('Petstore-Changes-Cursor');
  };
  await eventually('the change log is open', isOpen, 60_000, POLL_MS);
  const everyExample = (what: string, probe: (example: ExampleRun) => boolean) =>
    Promise.all(
      followers.map((example) =>
        eventually(`${example.client}: ${what}\n${example.output}`, () => probe(example), 60_000),
      ),
    );
  for (const example of followers) await example.start(apiKey);
  await everyExample('follows', ({ isFollowing }) => isFollowing);

  const ids: string[] = [];
  for (const name of ['Rex 1', 'Rex 2', CUT_WITHIN, 'Rex 4']) ids.push(await createPet(name));
  await mutate(`updatePet(id: "${ids[0]}", input: { name: "${CUT_BEHIND}" }) { id }`);
  await mutate(`deletePet(id: "${ids[1]}") { id }`);
  await createPet('Rex 6');
  await everyExample('has resumed', ({ output }) => output.includes('Rex 6'));
  expect(followers.map(({ client, cuts }) => ({ client, cuts }))).toEqual(
    FOLLOWERS.map((client) => ({ client, cuts: [CUT_WITHIN, CUT_BEHIND] })),
  );

  await gateway.kill('SIGTERM');
  expect(await gateway.ended).toMatchObject({ code: 0 });
  expect(gateway.faults()).toEqual([]);
  // So does an overloaded gateway.
  const busy = createServer((_, answer) => answer.writeHead(503, { 'Retry-After': '1' }).end());
  await once(busy.listen(Number(settings.PORT), '127.0.0.1'), 'listening');
  await everyExample('is refused', (example) => example.refusals(503) > 0);
  busy.closeAllConnections();
  await once(busy.close(), 'close');
  gateway = await startGateway({ main: PETSTORE_MAIN, env: settings });
  await createPet('Rex 7');
  await everyExample('has outlived the gateway', ({ output }) => output.includes('Rex 7'));

  const changes = [
    ...['CREATED Rex 1', 'CREATED Rex 2', 'CREATED Rex 3', 'CREATED Rex 4'],
    ...['UPDATED Rex 5', 'DELETED Rex 2', 'CREATED Rex 6', 'CREATED Rex 7'],
  ];
  expect(followers.map(({ client, printed }) => ({ client, printed }))).toEqual(
    FOLLOWERS.map((client) => ({ client, printed: changes })),
  );
  const { ban } = (await (await call('/v1/rate_limit')).json()) as { ban: object };
  expect(ban).toMatchObject({ strikes: 0, nextStepMinutes: 1 });
  expect(gateway.faults()).toEqual([]);
});

async function createPet(name: string): Promise<string> {
  const { createPet } = await mutate(`createPet(input: { name: "${name}", categoryId: "1" }) { id }`);
  return createPet?.id ?? '';
}

async function mutate(field: string): Promise<Record<string, { id: string }>> {
  const response = await call('/graphql', { query: `mutation { ${field} }` });
  const { data, errors } = (await response.json()) as {
    data: Record<string, { id: string }>;
    errors?: object;
  };
  expect(errors).toBeUndefined();
  return data;
}

function call(path: string, body?: object): Promise<Response> {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const post = body && { method: 'POST', body: JSON.stringify(body) };
  return fetch(`${gateway.url}${path}`, { headers, ...post });
}
