import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import { checkDatabase } from '../../../src/cli/doctor-checks.js';
import { databaseTarget, loadConfig } from '../../../src/ground/config/config.js';
import { Database } from '../../../src/ground/database/database.js';
import { isUnanswered } from '../../../src/ground/database/database-errors.js';
import { migrate } from '../../../src/ground/migrating/migrate.js';
import { petstore } from '../../support/command-line.js';
import { databaseKinds } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { DATABASE_SCHEMA } from '../../support/gateway/tested-gateway.js';
import { createTenant, type GatewayProcess, startGateway } from '../../support/gateway-process.js';
import { rest } from '../../support/http/client.js';
import { startFaultProxy } from '../../support/http/fault-proxy.js';
import { startMariadb } from '../../support/servers/mariadb.js';
import { startMysql } from '../../support/servers/mysql.js';
import type { SqlServer } from '../../support/servers/sql-server.js';

/** The deadline of a statement. */
const DEADLINE_MS = 2_000;
const SLOW_MS = 1_000;
const MOVED = 'the database is used at';
const USERS = "SELECT id FROM information_schema.processlist WHERE user = 'app'";
const setPassword = (password: string) => `ALTER USER app@'127.0.0.1' IDENTIFIED BY '${password}'`;

describe.each(databaseKinds().filter((kind) => kind !== 'sqlite'))('two servers of %s', (kind) => {
  let servers: [SqlServer, SqlServer];
  let gateway: GatewayProcess;
  let token: string;
  const server = (at: number) => servers[at] as SqlServer;
  const other = (at: number) => 1 - at;
  const portOf = (at: number) => new URL(server(at).url).port;
  const place = (at: number) => `127.0.0.1:${portOf(at)}`;
  const ofPlaces = (...places: string[]) => `mysql://app:app@${places.join()}/petstore`;
  const targetOf = (url: string) => loadConfig({ DATABASE_URL: url }).database;

  async function run(at: number, ...statements: string[]): Promise<RowDataPacket[]> {
    const root: Connection = await createConnection(server(at).url);
    let rows: RowDataPacket[] = [];
    for (const sql of statements) [rows] = await root.query<RowDataPacket[]>(sql);
    await root.end();
    return rows;
  }
  /** The servers are not replicas of each other. */
  async function copyTenant(): Promise<void> {
    const to = await createConnection(server(1).url);
    for (const table of ['projects', 'api_keys'])
      for (const row of await run(0, `SELECT * FROM petstore.${table}`))
        await to.query(`REPLACE INTO petstore.${table} SET ?`, [row]);
    await to.end();
  }
  beforeAll(async () => {
    const start = kind === 'mysql' ? startMysql : startMariadb;
    servers = await Promise.all([start(), start()]);
    for (const at of [0, 1]) {
      const user = "CREATE USER app@'127.0.0.1' IDENTIFIED BY 'app'";
      await run(at, 'CREATE DATABASE petstore', user, "GRANT ALL ON petstore.* TO app@'127.0.0.1'");
      await migrate(targetOf(ofPlaces(place(at))), DATABASE_SCHEMA);
    }
    token = await createTenant(ofPlaces(place(0)));
    await copyTenant();
    gateway = await startGateway({
      env: { DATABASE_URL: ofPlaces(place(0), place(1)), REQUEST_LOG: 'off' },
    });
  }, 120_000);
  afterAll(async () => {
    await gateway?.kill('SIGKILL');
    await Promise.all(servers.map((each) => each.stop()));
  });

  const create = (name: string) =>
    rest(gateway.url, '/v1/toys', { method: 'POST', token, body: { name, categoryId: 1 } });
  const countAt = async (at: number, name: string) =>
    Number((await run(at, `SELECT COUNT(*) AS toys FROM petstore.toys WHERE name = '${name}'`))[0]?.toys);
  const moves = () => gateway.output().split(MOVED).length - 1;
  const readiness = () => rest(gateway.url, '/readyz');
  const setReadOnly = (at: number, value: 0 | 1) => run(at, `SET GLOBAL read_only = ${value}`);
  const endConnections = async (at: number) => {
    for (const { id } of await run(at, USERS)) await run(at, `KILL ${id}`).catch(() => {});
  };
  /** The server that stores a toy now. */
  const usedNow = async (name: string) => {
    expect((await create(name)).status).toBe(201);
    return (await countAt(0, name)) === 1 ? 0 : 1;
  };

  interface Fault {
    what: string;
    begin(at: number): Promise<unknown>;
    end(at: number): Promise<unknown>;
    why: RegExp;
  }
  const FAULTS: Fault[] = [
    {
      what: 'is read-only',
      begin: (at) => setReadOnly(at, 1),
      end: (at) => setReadOnly(at, 0),
      why: /it is read-only/,
    },
    {
      what: 'was killed',
      begin: (at) => server(at).kill('SIGKILL'),
      end: (at) => server(at).restart(),
      why: /ECONNREFUSED|ECONNRESET|PROTOCOL_CONNECTION_LOST/,
    },
    {
      what: 'refuses the user',
      begin: async (at) => {
        await run(at, setPassword('other'));
        await endConnections(at);
      },
      end: (at) => run(at, setPassword('app')),
      why: /ER_ACCESS_DENIED_ERROR/,
    },
    {
      what: 'hangs',
      begin: (at) => server(at).kill('SIGSTOP'),
      end: (at) => server(at).kill('SIGCONT'),
      why: /it does not answer/,
    },
  ];
  test.each(FAULTS)(
    'Addresses-1: a server that $what costs one write at most, which is 503 and at the other server from then on, with one line in the log',
    async ({ what, begin, end, why }) => {
      const used = await usedNow(`before: ${what}`);
      const movesBefore = moves();
      await begin(used);
      const refused: unknown[] = [];
      const slow: number[] = [];
      for (let at = 0; at < 20; at += 1) {
        const sinceMs = performance.now();
        const { status, headers } = await create(`${what} ${at}`);
        const tookMs = performance.now() - sinceMs;
        if (status !== 201) refused.push([at, status, headers.get('retry-after')]);
        if (tookMs > SLOW_MS) slow.push(tookMs);
      }
      expect([[], [[0, 503, '1']]]).toContainEqual(refused);
      expect(slow.length).toBeLessThanOrEqual(1);
      expect(Math.max(0, ...slow)).toBeLessThan(DEADLINE_MS + SLOW_MS);
      expect(await countAt(other(used), `${what} 19`)).toBe(1);
      await eventually('ready', async () => (await readiness()).status === 200, 2_000);
      const line = `${MOVED} ${place(other(used))} now, not at ${place(used)}: `;
      await eventually('the line', () => gateway.output().includes(line));
      expect(gateway.output().split(line).at(-1)).toMatch(new RegExp(`^(${why.source})"`));
      await end(used);
      // The repaired server is not used again until the used server fails.
      expect(await usedNow(`after: ${what}`)).toBe(other(used));
      expect(moves()).toBe(movesBefore + 1);
      expect(gateway.faults()).toEqual([]);
    },
    60_000,
  );

  test('Addresses-2: when no server stores writes /readyz is 503 and says why of each, and 200 again by itself', async () => {
    for (const at of [0, 1]) await setReadOnly(at, 1);
    const told = [0, 1].map((at) => `${place(at)}: it is read-only`);
    await eventually('both are told', async () => {
      const { status, body } = await readiness();
      return status === 503 && body.message === `The database stores nothing: ${told.join('; ')}.`;
    });
    expect((await create('nowhere')).status).toBe(503);
    await setReadOnly(1, 0);
    await eventually('ready', async () => (await readiness()).status === 200);
    expect(await usedNow('again')).toBe(1);
    await setReadOnly(0, 0);
  });

  test('Addresses-3: commands pass by a server that is away, and doctor names it', async () => {
    const url = ofPlaces('127.0.0.1:1', place(0));
    const { json, stderr } = await petstore(['projects', 'list', '--json'], { databaseUrl: url });
    expect(stderr).toBe('');
    expect(JSON.stringify(json)).toContain('tenant-');
    const copied = await petstore(['copy', '--from', url, '--into', 'sqlite::memory:', '--json']);
    expect(`${copied.stdout}${copied.stderr}`).not.toContain('ECONNREFUSED');
    const backup = await petstore(['backup', 'dump.sql', '--json'], { databaseUrl: url });
    expect(backup.json.run).toContain(`--port=${portOf(0)} `);
    const { ok, found } = (await checkDatabase(loadConfig({ DATABASE_URL: url }))) ?? {};
    expect(ok).toBe(false);
    expect(found).toMatch(
      new RegExp(`^127.0.0.1:1: connect ECONNREFUSED.*; ${place(0)}: (mysql|mariadb) \\S+ answers$`),
    );
  });

  test('Addresses-4: when no server takes the connection, the error is that of the last, and the start tells why of each', async () => {
    const wrong = `mysql://app:wrong@127.0.0.1:1,${place(0)}/petstore`;
    await expect(Database.open(targetOf(wrong), DATABASE_SCHEMA)).rejects.toMatchObject({
      code: 'ER_ACCESS_DENIED_ERROR',
      message: expect.stringContaining("Access denied for user 'app'"),
    });
    const { stderr } = await petstore(['projects', 'list'], { databaseUrl: wrong });
    expect(stderr).toContain(`127.0.0.1:1: ECONNREFUSED; ${place(0)}: ER_ACCESS_DENIED_ERROR`);
    expect(stderr).toContain('Access denied');
  });

  test('Addresses-5: a transaction whose COMMIT gets no answer runs once, and at no other server', async () => {
    const proxy = await startFaultProxy(Number(portOf(0)));
    const db = await Database.open(targetOf(ofPlaces(`127.0.0.1:${proxy.port}`, place(1))), DATABASE_SCHEMA);
    let runs = 0;
    const write = (name: string) =>
      db.transaction(async (manager) => {
        runs += 1;
        await manager.query("REPLACE INTO change_sequences (name, value) VALUES (?, '1')", [name]);
      });
    const rowsAt = (at: number) => run(at, "SELECT 1 FROM petstore.change_sequences WHERE name LIKE 'once%'");
    try {
      await proxy.set('lost commit');
      const error = await write('once').catch((reason) => reason);
      expect(isUnanswered(error)).toBe(true);
      expect(runs).toBe(1);
      expect(await rowsAt(0)).toHaveLength(1);
      expect(await rowsAt(1)).toHaveLength(0);
      await write('once more');
      expect(await rowsAt(1)).toHaveLength(1);
    } finally {
      await db.close();
      await proxy.stop();
    }
  });
});

test('Addresses-6: DATABASE_URL names one server, or several with commas; a list with a hole is refused', () => {
  const target = databaseTarget('DATABASE_URL', 'mysql://user:a,b@one:3306,[::1]:3307,three/shop?ssl=true');
  expect(target).toEqual({
    kind: 'mysql',
    url: 'mysql://user:a,b@one:3306/shop',
    servers: [
      { host: 'one', port: 3306 },
      { host: '::1', port: 3307 },
      { host: 'three', port: 3306 },
    ],
    tls: true,
  });
  for (const servers of ['a,,b', 'a,', ',a', 'a,b:0', 'a,b:port', 'a, %zz'])
    expect(() => databaseTarget('DATABASE_URL', `mysql://user@${servers}/shop`)).toThrow(
      /^DATABASE_URL must be mysql:/,
    );
});
