import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { petstoreHere } from '../support/command-line.js';
import { eventually } from '../support/eventually.js';
import { type GatewayProcess, startGateway } from '../support/gateway-process.js';
import { type FaultProxy, startFaultProxy } from '../support/http/fault-proxy.js';
import { freePort } from '../support/servers/daemon.js';

const DOCUMENT = 'docs/clients.md';
/** They read a list; the others follow its changes. */
const READERS = ['Pages', 'Cache', 'React'];
const CLIENTS = ['Apollo Client', 'graphql-sse', 'urql', 'EventSource', 'curl', 'REST'];
const OUT = 'compiled';
const ADDRESS = 'http://127.0.0.1:4000';
/** The connection is cut within the first name, and behind the change of the second. */
const CUT_WITHIN = 'Rex 3';
const CUT_BEHIND = 'Rex 5';
/** Later the example ends, even if this process was killed before it could end it. */
const LONGEST_SECONDS = '240';

/** Often enough, and within the quota of the plan. */
const POLL_MS = 500;

let folder: string;
let settings: Record<string, string>;
let gateway: GatewayProcess;
let apiKey: string;
let examples: Example[];
let readers: Example[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'petstore-clients-'));
  const text = await readFile(DOCUMENT, 'utf8');
  const all = [...text.matchAll(/^## ([^\n]+)$(?:(?!^## ).)*?^```(tsx?|sh)\n(.*?)^```$/gms)].map(
    ([, client = '', language = '', code = '']) => new Example(client, language, code),
  );
  readers = all.slice(0, READERS.length);
  examples = all.slice(READERS.length);
  const port = await freePort();
  for (const example of all) await example.write(folder, port);
  const databaseUrl = `sqlite:${join(folder, 'petstore.sqlite')}`;
  settings = {
    DATABASE_URL: databaseUrl,
    DEMO: '0',
    PORT: String(port),
    SHUTDOWN_SECONDS: '4',
    // REST's links lead there, and must lead through the proxy.
    PUBLIC_BASE_URL: examples.at(-1)?.url ?? '',
  };
  gateway = await startGateway({ env: settings });
  const petstore = (...args: string[]) => petstoreHere([...args, '--json'], { databaseUrl });
  await petstore('projects', 'create', 'shop', '--plan', 'pro');
  apiKey = (await petstore('keys', 'create', 'shop')).json.key;
  await petstore('projects', 'set', 'shop', '--changes', 'on');
});

afterAll(async () => {
  await Promise.all([...readers, ...examples].map((example) => example.stop()));
  await gateway?.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

test(`Clients-1: ${DOCUMENT} has an example for each client, and its types are right`, async () => {
  expect([...readers, ...examples].map(({ client }) => client)).toEqual([...READERS, ...CLIENTS]);
  await symlink(resolve('node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  const compilerOptions = {
    rootDir: '.',
    outDir: OUT,
    incremental: false,
    sourceMap: false,
    jsx: 'react-jsx',
  };
  const tsconfig = { extends: resolve('tsconfig.json'), compilerOptions, include: ['.'] };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));
  const compiled = promisify(execFile)(resolve('node_modules/.bin/tsc'), ['-p', folder]);
  expect(await compiled.catch(({ stdout }) => ({ stdout }))).toMatchObject({ stdout: '' });
});

test('Clients-3: the examples read every page, keep an unchanged page, and show a list of React with its later pages', async () => {
  const names = Array.from({ length: 130 }, (_, at) => `Cat ${at}`);
  for (const part of [names.slice(0, 100), names.slice(100)]) {
    const inputs = part.map((name) => `{ name: "${name}", categoryId: "1" }`);
    await mutate(`createPets(inputs: [${inputs}]) { id }`);
  }
  const [pages, cache, react] = readers;
  const read = await pages?.run(apiKey);
  expect([...(read ?? '').matchAll(/"name":"([^"]+)"/g)].map(([, name]) => name)).toEqual(names);
  expect(await cache?.run(apiKey)).toBe('200\n');
  expect(await cache?.run(apiKey)).toBe('304\n');
  expect(JSON.parse(await readFile(join(folder, 'Cache', 'pets.json'), 'utf8'))).toHaveLength(20);
  expect(await react?.run(apiKey, SHOW_LIST)).toBe(`${[...names.slice(0, 20), 'More'].join('\n')}\n40\n`);
});

test('Clients-2: each example prints each change once and in order, through two cut connections, a restart and an overload', async () => {
  const isOpen = async () => {
    const answer = await call('/v1/pets');
    await answer.arrayBuffer();
    return answer.headers.has('Petstore-Changes-Cursor');
  };
  await eventually('the change log is open', isOpen, 60_000, POLL_MS);
  const everyExample = (what: string, probe: (example: Example) => boolean) =>
    Promise.all(
      examples.map((example) =>
        eventually(`${example.client}: ${what}\n${example.output}`, () => probe(example), 60_000),
      ),
    );
  for (const example of examples) example.start(apiKey);
  await everyExample('follows', ({ isFollowing }) => isFollowing);

  const ids: string[] = [];
  for (const name of ['Rex 1', 'Rex 2', CUT_WITHIN, 'Rex 4']) ids.push(await createPet(name));
  await mutate(`updatePet(id: "${ids[0]}", input: { name: "${CUT_BEHIND}" }) { id }`);
  await mutate(`deletePet(id: "${ids[1]}") { id }`);
  await createPet('Rex 6');
  await everyExample('has resumed', ({ output }) => output.includes('Rex 6'));
  expect(examples.map(({ client, cuts }) => ({ client, cuts }))).toEqual(
    CLIENTS.map((client) => ({ client, cuts: [CUT_WITHIN, CUT_BEHIND] })),
  );

  await gateway.kill('SIGTERM');
  expect(await gateway.ended).toMatchObject({ code: 0 });
  expect(gateway.faults()).toEqual([]);
  // So does an overloaded gateway.
  const busy = createServer((_, answer) => answer.writeHead(503, { 'Retry-After': '1' }).end());
  await once(busy.listen(Number(settings.PORT), '127.0.0.1'), 'listening');
  await everyExample('is refused', ({ refusals }) => refusals > 0);
  busy.closeAllConnections();
  await once(busy.close(), 'close');
  gateway = await startGateway({ env: settings });
  await createPet('Rex 7');
  await everyExample('has outlived the gateway', ({ output }) => output.includes('Rex 7'));

  const changes = [
    ...['CREATED Rex 1', 'CREATED Rex 2', 'CREATED Rex 3', 'CREATED Rex 4'],
    ...['UPDATED Rex 5', 'DELETED Rex 2', 'CREATED Rex 6', 'CREATED Rex 7'],
  ];
  expect(examples.map(({ client, printed }) => ({ client, printed }))).toEqual(
    CLIENTS.map((client) => ({ client, printed: changes })),
  );
  expect(gateway.faults()).toEqual([]);
});

/** Renders the list of the React example, then reads one more page into its cache. */
const SHOW_LIST = `
import { gql } from '@apollo/client';
import { ApolloProvider } from '@apollo/client/react';
import { prerenderStatic } from '@apollo/client/react/ssr';
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { client, PetList } from './example.js';

const tree = createElement(ApolloProvider, { client }, createElement(PetList));
const { result } = await prerenderStatic({ tree, renderFunction: renderToString });
console.log(result.replace(/<[^>]+>/g, '\\n').trim().replace(/\\n+/g, '\\n'));
const query = gql('query($after: String) { pets(first: 20, after: $after) { edges { node { id name } } pageInfo { endCursor } } }');
const first = client.readQuery({ query });
const variables = { after: first.pets.pageInfo.endCursor };
// As fetchMore does.
await client.query({ query, variables, fetchPolicy: 'network-only' });
console.log(client.readQuery({ query }).pets.edges.length);
process.exit();
`;

/** An example of the document, with the proxy that cuts its connections. */
class Example {
  output = '';
  /** Whether the head of a stream, or a page of changes, has come. */
  isFollowing = false;
  /** How often the answer was 503. */
  refusals = 0;
  readonly cuts: string[] = [];
  #child: ChildProcess | undefined;
  #proxy: FaultProxy | undefined;
  #program: string[] = [];
  #folder = '';

  constructor(
    readonly client: string,
    readonly language: string,
    readonly code: string,
  ) {}

  /** The changes that it has printed, in one form for all: `CREATED Rex 1`. */
  get printed(): string[] {
    const lines = this.output.matchAll(/(CREATED|UPDATED|DELETED)\b.*?(Rex \d)/gi);
    return [...lines].map(([, kind = '', name]) => `${kind.toUpperCase()} ${name}`);
  }

  /** Where it finds the gateway. */
  get url(): string {
    return `http://127.0.0.1:${this.#proxy?.port}`;
  }

  async write(parent: string, gatewayPort: number): Promise<void> {
    this.#proxy = await startFaultProxy(gatewayPort);
    await this.#proxy.set({ ofAnswer: (bytes, { client, server }) => this.#pass(bytes, client, server) });
    this.#folder = join(parent, this.client.replaceAll(' ', '-'));
    await mkdir(this.#folder);
    const code = this.code.replaceAll(ADDRESS, this.url);
    await writeFile(join(this.#folder, `example.${this.language}`), code);
    const compiled = join(parent, OUT, basename(this.#folder), 'example.js');
    this.#program = this.language === 'sh' ? ['bash', 'example.sh'] : [process.execPath, compiled];
  }

  /** Runs a reader to its end, or a script beside it. Returns its output. */
  async run(apiKey: string, script?: string): Promise<string> {
    const file = join(dirname(this.#program[1] ?? ''), 'run.js');
    if (script) await writeFile(file, script);
    const [program = '', example = ''] = this.#program;
    const env = { ...process.env, API_KEY: apiKey };
    const { stdout } = await promisify(execFile)(program, [script ? file : example], {
      cwd: this.#folder,
      env,
    });
    return stdout;
  }

  start(apiKey: string): void {
    this.#child = spawn('timeout', [LONGEST_SECONDS, ...this.#program], {
      cwd: this.#folder,
      // Starts a process group: to end the shell alone would not end its `curl`.
      detached: true,
      env: { ...process.env, API_KEY: apiKey },
    });
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.output += text;
    });
  }

  async stop(): Promise<void> {
    const { pid } = this.#child ?? {};
    if (pid && this.#child?.exitCode === null) {
      process.kill(-pid, 'SIGKILL');
      await once(this.#child, 'exit');
    }
    await this.#proxy?.stop();
  }

  /** Delivers bytes of an answer, until a cut is due. */
  #pass(bytes: Buffer, client: Socket, server: Socket): void {
    const text = bytes.toString('latin1');
    if (/text\/event-stream|multipart\/mixed|pets\/changes/i.test(text)) this.isFollowing = true;
    if (text.startsWith('HTTP/1.1 503')) this.refusals += 1;
    const cut = [CUT_WITHIN, CUT_BEHIND][this.cuts.length];
    const at = cut === undefined ? -1 : text.indexOf(cut);
    if (cut === undefined || at === -1) {
      client.write(bytes);
      return;
    }
    this.cuts.push(cut);
    const end = cut === CUT_WITHIN ? at + 2 : bytes.length;
    server.pause();
    client.end(bytes.subarray(0, end), () => server.destroy());
  }
}

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
