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
  const starters = { mysql: startMysql, mariadb: startMariadb };
  for (const [kind, start] of Object.entries(starters)) {
    if (!databaseKinds().includes(kind as 'mysql')) continue;
    const server = await start();
    globalThis.sqlServers.push(server);
    process.env[`TEST_SERVER_${kind.toUpperCase()}`] = server.url;
  }
}
