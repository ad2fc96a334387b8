import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const HERE = import.meta.dirname;
const ROOT = join(HERE, '../..');
const BIN = join(HERE, 'node_modules/.bin');
const PASSED = join(HERE, 'out/generated-from');
const PET_STORE = [process.execPath, join(ROOT, 'dist/src/cli/main.js')];

/**
 * Generators of clients read the contract: what they write must compile, and must store and list a pet with this gateway. The
 * generated files are kept while the contract and this folder are unchanged. Each request of the Postman collection must succeed.
 */
const inputs = await digestOfInputs();
await withGateway(async (env, isOpen) => {
  if ((await readFile(PASSED, 'utf8').catch(() => '')) !== inputs) await generate();
  await isOpen();
  run(process.execPath, [join(HERE, 'out/js/clients/call.js')], env);
  await runCollection(env);
});

async function generate() {
  console.log('Generating clients from the contract…');
  run(process.execPath, [join(HERE, 'install.js')]);
  await rm(join(HERE, 'out'), { recursive: true, force: true });
  run(process.execPath, [join(HERE, 'generate.js')]);
  run(join(BIN, 'tsc'), ['-p', HERE]);
  run(process.execPath, [join(HERE, 'collection.js')]);
  run(join(ROOT, 'node_modules/.bin/redocly'), ['lint', 'schema/openapi.json'], { REDOCLY_TELEMETRY: 'off' });
  await writeFile(PASSED, inputs);
}

async function digestOfInputs() {
  const own = (await readdir(HERE, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && !/\/(node_modules|out)(\/|$)/.test(entry.parentPath))
    .map(({ parentPath, name }) => join(parentPath, name));
  const hash = createHash('sha256');
  const contract = ['schema/openapi.json', 'schema/schema.graphql'].map((path) => join(ROOT, path));
  for (const file of [...own.sort(), ...contract]) hash.update(file).update(await readFile(file));
  return hash.digest('hex');
}

/** Starts a gateway with an empty project, and calls `use` with its address and key, and what waits until it is open. */
async function withGateway(use) {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-generators-'));
  const port = await freePort();
  const { PATH, TMPDIR = tmpdir() } = process.env;
  const env = {
    PATH,
    TMPDIR,
    DATABASE_URL: `sqlite:${join(folder, 'petstore.sqlite')}`,
    PORT: String(port),
    DEMO: '0',
  };
  const petstore = (...parameters) =>
    JSON.parse(run(PET_STORE[0], [PET_STORE[1], ...parameters, '--json'], env));
  petstore('projects', 'create', 'shop', '--plan', 'PRO');
  petstore('projects', 'set', 'shop', '--changes', 'on');
  const { key } = petstore('keys', 'create', 'shop');
  const gateway = spawn(process.execPath, [join(ROOT, 'dist/src/main.js')], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = new Promise((resolve) => gateway.once('exit', resolve));
  try {
    const baseUrl = `http://127.0.0.1:${port}/v1`;
    // A change log opens 15 s after it was switched on: time to generate the clients.
    const headers = { authorization: `Bearer ${key}` };
    const isOpen = () => answers(`${baseUrl}/pets/changes`, { headers }, gateway);
    await use({ BASE_URL: baseUrl, API_KEY: key }, isOpen);
  } finally {
    gateway.kill('SIGTERM');
    await ended;
    await rm(folder, { recursive: true, force: true });
  }
}

async function answers(url, init, gateway) {
  const untilMs = performance.now() + 60_000;
  while (gateway.exitCode === null && performance.now() < untilMs) {
    const response = await fetch(url, init).catch(() => null);
    if (response?.ok) return;
    await new Promise((wake) => setTimeout(wake, 500));
  }
  throw new Error(`${url} does not answer 200`);
}

/** Sends every request of the served collection with newman, twice: a constant Idempotency-Key would show. */
async function runCollection({ BASE_URL, API_KEY }) {
  const report = join(HERE, 'out/newman.json');
  const options = [
    '--env-var',
    `apiKey=${API_KEY}`,
    '-n',
    '2',
    '--reporters',
    'json',
    '--reporter-json-export',
    report,
  ];
  run(join(BIN, 'newman'), ['run', `${BASE_URL}/postman.json`, ...options]);
  const { executions } = JSON.parse(await readFile(report, 'utf8')).run;
  const failed = executions.filter(({ response }) => !(response?.code >= 200 && response.code < 300));
  const created = executions.filter(({ response }) => response?.code === 201);
  const isRepeated = created.some(({ response }) => response.header.some(({ key }) => /replayed/i.test(key)));
  if (failed.length > 0 || created.length < 2 || isRepeated) {
    const told = executions.map(({ item, response }) => `${item.name}: ${response?.code}`);
    throw new Error(`Not every request of schema/postman.json works:\n${told.join('\n')}`);
  }
}

/** Returns stdout. Throws with the program's output if it fails. */
function run(program, parameters, env = {}) {
  const all = { ...process.env, ...env };
  const { status, stdout, stderr, error } = spawnSync(program, parameters, {
    cwd: ROOT,
    env: all,
    encoding: 'utf8',
  });
  if (status === 0) return stdout;
  throw new Error(`${[program, ...parameters].join(' ')} failed:\n${stdout}${stderr}${error ?? ''}`);
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  const { port } = server.address();
  await new Promise((closed) => server.close(closed));
  return port;
}
