import { afterAll, beforeAll, expect } from '@jest/globals';
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import { eventually } from '../../support/eventually.js';
import { createTenant, type GatewayProcess, startGateway } from '../../support/gateway-process.js';
import { KeepAliveClient } from '../../support/http/keep-alive-client.js';
import { testOnMysql as test } from '../../support/on-databases.js';
import { startMysql } from '../../support/servers/mysql.js';
import type { SqlServer } from '../../support/servers/sql-server.js';

const USER = "app@'127.0.0.1'";
const CLIENTS = 4;

/** SQL that changes the server, and SQL that reverts it. A few of them apply to new connections only. */
const MISHAPS: [what: string, begin: string[], end: string[]][] = [
  ['one connection', ['SET GLOBAL max_connections = 1'], ['SET GLOBAL max_connections = 151']],
  [
    'one connection of the user',
    [`ALTER USER ${USER} WITH MAX_USER_CONNECTIONS 1`],
    [`ALTER USER ${USER} WITH MAX_USER_CONNECTIONS 0`],
  ],
  [
    'no prepared statement',
    ['SET GLOBAL max_prepared_stmt_count = 0'],
    ['SET GLOBAL max_prepared_stmt_count = 16382'],
  ],
  [
    'another password',
    [`ALTER USER ${USER} IDENTIFIED BY 'other'`],
    [`ALTER USER ${USER} IDENTIFIED BY 'app'`],
  ],
  [
    'a password that has expired',
    [`ALTER USER ${USER} PASSWORD EXPIRE`],
    [`ALTER USER ${USER} IDENTIFIED BY 'app'`],
  ],
  ['no right to write', [`REVOKE INSERT ON petstore.* FROM ${USER}`], [`GRANT ALL ON petstore.* TO ${USER}`]],
  ['offline mode', ['SET GLOBAL offline_mode = 1'], ['SET GLOBAL offline_mode = 0']],
  ['read-only mode', ['SET GLOBAL super_read_only = 1'], ['SET GLOBAL read_only = 0']],
];

let server: SqlServer;
let root: Connection;
let gateway: GatewayProcess;
let clients: KeepAliveClient[];
beforeAll(async () => {
  server = await startMysql();
  root = await createConnection(server.url);
  await root.query('CREATE DATABASE petstore');
  await root.query(`CREATE USER ${USER} IDENTIFIED BY 'app'`);
  await root.query(`GRANT ALL ON petstore.* TO ${USER}`);
  const databaseUrl = `${server.url.replace('root@', 'app:app@')}/petstore`;
  gateway = await startGateway({ env: { DATABASE_URL: databaseUrl } });
  const token = await createTenant(databaseUrl);
  clients = Array.from({ length: CLIENTS }, () => new KeepAliveClient(gateway.url, token));
});
afterAll(async () => {
  for (const client of clients) client.close();
  await gateway.kill('SIGKILL');
  await root.end();
  await server.stop();
});

const create = () =>
  Promise.all(
    clients.map((client) =>
      client.send('/v1/toys', { method: 'POST', body: { name: 'Rex', categoryId: 1 } }),
    ),
  );
const isServed = async () => (await create()).every(({ status }) => status === 201);
const endConnections = async () => {
  const [rows] = await root.query<RowDataPacket[]>(
    "SELECT id FROM information_schema.processlist WHERE user = 'app'",
  );
  for (const { id } of rows) await root.query(`KILL ${id}`).catch(() => {});
};

test.each(MISHAPS)(
  'Attack-mysql-1: with %s writes are 503 with Retry-After, and succeed again later without a restart',
  async (_, begin, end) => {
    await eventually('served', isServed);
    for (const sql of begin) await root.query(sql);
    await endConnections();
    const answers = [];
    for (let round = 0; round < 20; round += 1) answers.push(...(await create()));
    for (const sql of end) await root.query(sql);
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.filter(({ status, headers }) => status !== 503 || !headers['retry-after'])).toEqual([]);
    await eventually('served again', isServed);
    expect(gateway.faults()).toEqual([]);
  },
);
