import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import petstoreGateway from '../../src/petstore.js';
import { makeUserProject } from '../support/client/user-project.js';
import { petstore, petstoreHere } from '../support/command-line.js';
import { eventually } from '../support/eventually.js';
import { type GatewayProcess, startGateway } from '../support/gateway-process.js';
import { rest } from '../support/http/client.js';
import { PETSTORE_MAIN } from '../support/pets/petstore.js';
import { freePort } from '../support/servers/daemon.js';

const run = promisify(execFile);
const ADDRESS = 'http://127.0.0.1:4000';

let folder: string;
let gateway: GatewayProcess;
let key: string;
let program: ChildProcess | undefined;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'petstore-guide-'));
  const databaseUrl = `sqlite:${join(folder, 'petstore.sqlite')}`;
  gateway = await startGateway({
    main: PETSTORE_MAIN,
    env: { DATABASE_URL: databaseUrl, DEMO: '0', PORT: String(await freePort()) },
  });
  const command = (...args: string[]) =>
    petstoreHere([...args, '--json'], { databaseUrl, gateway: petstoreGateway });
  await command('projects', 'create', 'shop', '--plan', 'pro');
  key = (await command('keys', 'create', 'shop')).json.key;
  await command('projects', 'set', 'shop', '--changes', 'on');
});
afterAll(async () => {
  program?.kill('SIGKILL');
  await gateway?.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

/** The blocks of a language on the page of the guide, as a reader sees them. */
async function blocks(language: string): Promise<string[]> {
  const { text } = await rest(gateway.url, '/v1/docs/typescript', { headers: { accept: 'text/html' } });
  const found = [...text.matchAll(/<pre[^>]*><code[^>]*>(.*?)<\/code><\/pre>/gs)].map(
    ([, code = '']) => code,
  );
  const plain = found.map((code) =>
    code
      .replace(/<[^>]*>/g, '')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&#39;', "'")
      .replaceAll('&quot;', '"')
      .replaceAll('&amp;', '&'),
  );
  return plain.filter((code) => /^npm install/.test(code) === (language === 'shell'));
}

test('Client-19: the commands and the code of the guide, as its page shows them, compile under strict and do what it says', async () => {
  await makeUserProject(folder);
  const [commands = ''] = await blocks('shell');
  const [, words = ''] = /npx petstore (.*)/.exec(commands) ?? [];
  const generated = await petstore(words.replace(ADDRESS, gateway.url).split(' '), { cwd: folder });
  expect([generated.code, generated.stderr]).toEqual([0, '']);

  const code = await blocks('javascript');
  expect(code).toHaveLength(3);
  const [calls = '', follow = '', errors = ''] = code;
  const shown = 'console.log(String(page.length));';
  const text = [
    calls.replace(/createClient\(description, \{/, `$& baseUrl: '${gateway.url}/v1',`),
    shown,
    errors,
    follow,
  ];
  await writeFile(join(folder, 'guide.ts'), text.join('\n'));
  const compilerOptions = { strict: true, module: 'NodeNext', target: 'ES2022', types: ['node'] };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['guide.ts'] }));
  expect(
    await run(resolve('node_modules/.bin/tsc'), ['-p', folder]).catch(({ stdout }) => ({ stdout })),
  ).toMatchObject({ stdout: '' });

  const isOpen = async () =>
    (await rest(gateway.url, '/v1/pets', { token: key })).headers.has('petstore-changes-cursor');
  await eventually('the change log is open', isOpen, 60_000, 500);
  let output = '';
  program = spawn(process.execPath, ['guide.js'], { cwd: folder, env: { ...process.env, API_KEY: key } });
  for (const stream of [program.stdout, program.stderr])
    stream?.on('data', (bytes) => (output += String(bytes)));
  // The last block lists, and then follows from there: a pet that it lists is no change.
  await eventually('listed', () => /^invalid_request \[.*^\d+n$/ms.test(output));
  const body = { name: 'Later', categoryId: 1 };
  const { status, body: later } = await rest(gateway.url, '/v1/pets', { method: 'POST', token: key, body });
  expect(status).toBe(201);
  await eventually('followed', () => output.includes(`created ${later.id}n`), 60_000);
  const { body: pets } = await rest(gateway.url, '/v1/pets', { token: key });
  expect(output).toContain(`${pets[0].id}n\n1\n`);
});
