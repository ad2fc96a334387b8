import { mariadbFromPackages } from './mariadb.js';
import { isCached } from './programs/cached-folder.js';
import { isUbuntu, unpackDebianPackages } from './programs/debian-packages.js';
import { firstWorking, type Place } from './programs/first-working.js';
import { downloadMysqld, findDownloadedMysqld } from './programs/mysql-download.js';
import { MYSQL_IMAGE, unpackMysqlImage } from './programs/mysql-image.js';
import { executableOnPath } from './programs/programs.js';
import { mysqlEngine } from './programs/sql-programs.js';
import {
  type FoundEngine,
  givenSqlServer,
  runSqlServer,
  type SqlEngine,
  type SqlServer,
  withTemplate,
} from './sql-server.js';

/** Starts a found or downloaded MySQL with `args` for `mysqld`; with TEST_MYSQL_URL it uses that server. */
export async function startMysql({ args }: { args?: string[] } = {}): Promise<SqlServer> {
  const given = process.env.TEST_MYSQL_URL;
  return given ? givenSqlServer('TEST_MYSQL_URL', given) : runSqlServer(await findMysql(), args);
}

/** Returns the MySQL of this machine, downloaded if there is none. */
export const findMysql = () => firstWorking('MySQL', PLACES);

const MYSQL_PACKAGES = 'mysql-packages';

const PLACES: Place<FoundEngine>[] = [
  {
    name: 'installed mysqld',
    advice: 'install MySQL 8.4 or later, or point TEST_MYSQL_URL to a server: mysql://root@127.0.0.1:3306',
    isAtHand: () => true,
    find: async () => withTemplate(await mysqlEngine({ file: executableOnPath('mysqld'), args: [] })),
  },
  {
    name: 'download by mysql-memory-server',
    advice: 'allow this machine to reach the MySQL download site',
    isAtHand: () => findDownloadedMysqld() !== undefined,
    find: async () => withTemplate(await mysqlEngine({ file: await downloadMysqld(), args: [] })),
  },
  {
    name: `Docker image ${MYSQL_IMAGE}`,
    advice: 'start Docker; elsewhere than on Linux run `docker compose up -d mysql` and set TEST_MYSQL_URL',
    isAtHand: () => isCached('mysql-image'),
    find: async () => {
      const root = await unpackMysqlImage('mysql-image');
      return withTemplate(await mysqlEngine(root.program('usr/sbin/mysqld'), `${root.path}/usr`));
    },
  },
  {
    name: 'packages of Debian or Ubuntu',
    advice: 'run on Debian or Ubuntu with a mirror that apt reaches',
    isAtHand: () => isCached(MYSQL_PACKAGES),
    find: async () => withTemplate(await mysqlFromPackages()),
  },
];

// Debian's releases carry MariaDB only, its development suite carries MySQL too; Ubuntu's releases carry MySQL.
async function mysqlFromPackages(): Promise<SqlEngine> {
  const wanted = isUbuntu()
    ? { suite: 'own', packages: ['default-mysql-server-core'] }
    : { suite: 'sid', packages: ['mysql-server-core'] };
  try {
    const root = await unpackDebianPackages({ name: MYSQL_PACKAGES, ...wanted });
    return await mysqlEngine(root.program('usr/sbin/mysqld'), `${root.path}/usr`);
  } catch (error) {
    if (!/Unable to locate package|no installation candidate/.test((error as Error).message)) throw error;
    process.stderr.write(
      `The suite ${wanted.suite} carries no MySQL any more. THESE TESTS RUN ON MARIADB INSTEAD.\n`,
    );
    return mariadbFromPackages();
  }
}
