import { databaseKinds } from './databases.js';
import { startMariadb } from './servers/mariadb.js';
import { startMysql } from './servers/mysql.js';
import type { SqlServer } from './servers/sql-server.js';

declare global {
  // Jest passes nothing else from setup to teardown.
  var sqlServers: SqlServer[];
}

/** Starts each database server that the run needs, once for all test files. */
export default async function setup(): Promise<void> {
  globalThis.sqlServers = [];
  // A gateway whose connections are damaged opens many: without room for them the tests beside it would fail.
  const options = { args: ['--max-connections=1000'] };
  const starters = { mysql: () => startMysql(options), mariadb: () => startMariadb(options) };
  for (const [kind, start] of Object.entries(starters)) {
    if (!databaseKinds().includes(kind as 'mysql')) continue;
    const server = await start();
    globalThis.sqlServers.push(server);
    process.env[`TEST_SERVER_${kind.toUpperCase()}`] = server.url;
  }
}
