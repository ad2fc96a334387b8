import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { loadConfig } from '../../src/ground/config/config.js';
import { createDataSource } from '../../src/ground/database/data-source.js';
import { createTestDatabase, databaseKinds } from '../support/databases.js';
import { DATABASE_SCHEMA } from '../support/gateway/tested-gateway.js';
import { createTenant, ready, spawnGateway, startGateway } from '../support/gateway-process.js';
import { testOnMysql } from '../support/on-databases.js';
import { atMachineSpeed } from '../support/own-time.js';

const READY_WITHIN_MS = 2_000;
/** The machine of the tests runs other work too. */
const NOISE = 2;
const GIVES_UP_WITHIN_MS = 15_000;
const PASSWORD = 'a-secret-of-the-owner';

async function outcomeOf(env: Record<string, string>) {
  const gateway = spawnGateway({ env });
  const { code } = await gateway.ended;
  return { code, output: gateway.output() };
}

test.each([
  ['PORT', 'http'],
  ['PORT', '65536'],
  ['DATABASE_URL', `mysql://root:${PASSWORD}@127.0.0.1`],
  ['DATABASE_URL', `postgres://root:${PASSWORD}@127.0.0.1/petstore`],
  ['PETSTORE_ENV', 'development'],
])('Start-1: %s=%s ends the process with 2 and one line that names the variable', async (name, value) => {
  const { code, output } = await outcomeOf({ DATABASE_URL: 'sqlite::memory:', [name]: value });
  expect(code).toBe(2);
  expect(output).toMatch(new RegExp(`^${name} [^\n]+\n$`));
  expect(output).not.toContain(PASSWORD);
});

test('Start-2: a port in use ends the process with 1 and one line that names it', async () => {
  const { server, port } = await listen(() => {});
  const { code, output } = await outcomeOf({ DATABASE_URL: 'sqlite::memory:', PORT: String(port) });
  server.close();
  expect(code).toBe(1);
  expect(output).toMatch(new RegExp(`^PORT ${port} [^\n]+\n$`));
});

const REFUSING = 'a port that refuses';
const SILENT = 'a port that accepts and says nothing';
const CLOSING = 'a port that closes at once';

test.concurrent.each([REFUSING, SILENT, CLOSING])(
  'Start-3: %s instead of a database ends the process with 1 and one line, in 15 s, without the password',
  async (what) => {
    const open = new Set<Socket>();
    const { server, port } = await listen((socket) => {
      open.add(socket.on('error', () => {}));
      if (what === CLOSING) socket.end();
    });
    if (what === REFUSING) server.close();
    const url = `mysql://root:${PASSWORD}@127.0.0.1:${port}/petstore`;
    const { result, tookMs } = await atMachineSpeed(() => outcomeOf({ DATABASE_URL: url }));
    const { code, output } = result;
    for (const socket of open) socket.destroy();
    server.close();
    expect(code).toBe(1);
    expect(output).toMatch(/^[^\n]*DATABASE_URL[^\n]*\n$/);
    expect(output).not.toContain(PASSWORD);
    expect(tookMs).toBeLessThan(GIVES_UP_WITHIN_MS);
  },
);

testOnMysql(
  'Start-9: a password that the database refuses ends the process with 1 and one line without the password',
  async () => {
    const database = await createTestDatabase('mysql');
    const url = database.url.replace('root@', `root:${PASSWORD}@`);
    const { code, output } = await outcomeOf({ DATABASE_URL: url });
    await database.remove();
    expect(code).toBe(1);
    expect(output).toMatch(/^[^\n]*DATABASE_URL[^\n]*\n$/);
    expect(output).not.toContain(PASSWORD);
  },
);

test.each(databaseKinds())(
  'Start-4: two processes that start at once on an empty database both become ready, and create its schema once, on %s',
  async (kind) => {
    const database = await createTestDatabase(kind);
    const both = [1, 2].map(() => spawnGateway({ env: { DATABASE_URL: database.url } }));
    try {
      await Promise.all(both.map(ready));
      const { database: target } = loadConfig({ DATABASE_URL: database.url });
      const source = await createDataSource(target, DATABASE_SCHEMA, {
        poolSize: 1,
        queryTimeoutMs: 5_000,
      });
      await source.initialize();
      const applied: { name: string }[] = await source.query('SELECT name FROM migrations');
      expect(applied.map(({ name }) => name).sort()).toEqual(
        source.migrations.map((migration) => migration.constructor.name).sort(),
      );
      await source.destroy();
      await createTenant(database.url);
      expect(both.flatMap((gateway) => gateway.faults())).toEqual([]);
    } finally {
      await Promise.all(both.map((gateway) => gateway.kill('SIGKILL')));
      await database.remove();
    }
  },
);

test('Start-5: the process is ready in 2 s on a migrated SQLite file', async () => {
  const database = await createTestDatabase('sqlite');
  const env = { DATABASE_URL: database.url };
  await (await startGateway({ env })).kill('SIGKILL');
  const { result: gateway, tookMs } = await atMachineSpeed(() => startGateway({ env }));
  await gateway.kill('SIGKILL');
  await database.remove();
  expect(tookMs).toBeLessThan(READY_WITHIN_MS * NOISE);
});

test.each([
  ['HOST', '192.0.2.1'],
  ['HOST', 'nowhere.invalid'],
])('Start-7: %s=%s ends the process with 1 and one line that names the variable', async (name, value) => {
  const { code, output } = await outcomeOf({ DATABASE_URL: 'sqlite::memory:', [name]: value });
  expect({ code, output }).toEqual({
    code: 1,
    output: `PORT 0 on ${value} can't be bound: this machine has no such address. Correct ${name}.\n`,
  });
});

test('Start-8: arguments are refused with 2, except --help and --version', async () => {
  const env = { DATABASE_URL: 'sqlite::memory:' };
  const outcome = async (...args: string[]) => {
    const gateway = spawnGateway({ env, args });
    return { ...(await gateway.ended), output: gateway.output() };
  };
  expect(await outcome('--port', '5000')).toMatchObject({
    code: 2,
    output: expect.stringMatching(/^Unknown argument "--port"\. .*environment variables/),
  });
  expect(await outcome('--help')).toMatchObject({ code: 0, output: expect.stringContaining('--version') });
  expect(await outcome('--version')).toMatchObject({
    code: 0,
    output: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
  });
});

test('Start-6: with a database in memory the demo starts, and every id is exact', async () => {
  const gateway = await startGateway({ env: { DATABASE_URL: 'sqlite::memory:', DEMO: '1' } });
  try {
    const [token] = /pk_[0-9A-Za-z]{33}/.exec(gateway.output()) ?? [];
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const listed = await fetch(`${gateway.url}/v1/toys?limit=100`, { headers });
    expect(await listed.json()).toHaveLength(3);
    const body = '{"name":"Rex","categoryId":9223372036854775807}';
    const created = await fetch(`${gateway.url}/v1/toys`, { method: 'POST', headers, body });
    expect(await created.text()).toContain('9223372036854775807');
    const read = await fetch(new URL(created.headers.get('location') ?? '', gateway.url), { headers });
    expect(await read.text()).toContain('"categoryId":9223372036854775807');
  } finally {
    await gateway.kill('SIGKILL');
  }
});

async function listen(onConnection: (socket: Socket) => void) {
  const server = createServer(onConnection).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: (server.address() as { port: number }).port };
}
