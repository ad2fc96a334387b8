import { dirname } from 'node:path';
import { isCached } from './programs/cached-folder.js';
import { unpackDebianPackages } from './programs/debian-packages.js';
import { firstWorking, type Place } from './programs/first-working.js';
import { executableOnPath } from './programs/programs.js';
import { mariadbEngine } from './programs/sql-programs.js';
import {
  type FoundEngine,
  givenSqlServer,
  runSqlServer,
  type SqlEngine,
  type SqlServer,
  withTemplate,
} from './sql-server.js';

/** Starts a found or downloaded MariaDB with `args` for `mariadbd`; with TEST_MARIADB_URL it uses that server. */
export async function startMariadb({ args }: { args?: string[] } = {}): Promise<SqlServer> {
  const given = process.env.TEST_MARIADB_URL;
  return given
    ? givenSqlServer('TEST_MARIADB_URL', given)
    : runSqlServer(await firstWorking('MariaDB', PLACES), args);
}

/** Returns the MariaDB of this machine's own Debian or Ubuntu release. */
export async function mariadbFromPackages(): Promise<SqlEngine> {
  const root = await unpackDebianPackages({
    name: MARIADB_PACKAGES,
    suite: 'own',
    packages: ['mariadb-server-core'],
  });
  return mariadbEngine(root.program('usr/sbin/mariadbd'), `${root.path}/usr`);
}

const MARIADB_PACKAGES = 'mariadb-packages';

const PLACES: Place<FoundEngine>[] = [
  {
    name: 'installed mariadbd',
    advice:
      'install MariaDB 10.11 or later, or point TEST_MARIADB_URL to a server: mysql://root@127.0.0.1:3306',
    isAtHand: () => true,
    find: async () => {
      const file = executableOnPath('mariadbd');
      return withTemplate(await mariadbEngine({ file, args: [] }, dirname(dirname(file))));
    },
  },
  {
    name: 'packages of Debian or Ubuntu',
    advice: 'run on Debian or Ubuntu with a mirror that apt reaches',
    isAtHand: () => isCached(MARIADB_PACKAGES),
    find: async () => withTemplate(await mariadbFromPackages()),
  },
];
