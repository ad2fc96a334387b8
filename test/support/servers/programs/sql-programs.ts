import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Program } from '../daemon.js';
import type { SqlEngine } from '../sql-server.js';
import { requireVersion } from './oldest-versions.js';
import { printedBy } from './programs.js';

/** `prefix` is the folder that contains an unpacked server's `sbin` and `share`; an installed server knows its own. */
export async function mysqlEngine(program: Program, prefix?: string): Promise<SqlEngine> {
  const version = await versionOf(program);
  // Debian's MariaDB also installs a `mysqld`.
  requireVersion('MySQL', program, version);
  return {
    program,
    version,
    settings: [
      ...(prefix ? [`--basedir=${prefix}`, `--lc-messages-dir=${sharedFiles(prefix)}`] : []),
      ...(prefix ? [`--plugin-dir=${pluginsOf(prefix)}`] : []),
      '--mysqlx=OFF',
      '--skip-log-bin',
      '--innodb-redo-log-capacity=32M',
    ],
    bootstrap: {
      args: ['--initialize-insecure', '--init-file=/dev/stdin'],
      // Without name resolution 127.0.0.1 is not `localhost`, the only host for which root exists.
      sql: "CREATE USER root@'127.0.0.1';\nGRANT ALL ON *.* TO root@'127.0.0.1' WITH GRANT OPTION;\n",
    },
  };
}

/** `prefix` is the folder that contains the server's `bin` or `sbin` and `share`. */
export async function mariadbEngine(program: Program, prefix: string): Promise<SqlEngine> {
  const version = await versionOf(program);
  requireVersion('MariaDB', program, version);
  const share = sharedFiles(prefix);
  return {
    program,
    version,
    // Packaged MariaDB is configured for utf8mb4; without configuration files it would be latin1.
    settings: [`--basedir=${prefix}`, `--lc-messages-dir=${share}`, '--character-set-server=utf8mb4'],
    bootstrap: {
      args: ['--bootstrap', '--enforce-storage-engine='],
      sql: [
        'CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket = NULL;',
        ...(await systemTables(share)),
      ].join('\n'),
    },
  };
}

async function versionOf(program: Program): Promise<string> {
  return (await printedBy(program, '--no-defaults', '--version')).replace(/^\S+/, '').trim();
}

// `share/mysql` in Debian's packages, `share/mysql-8.4` in Oracle's, `share` itself in the binary archives.
function sharedFiles(prefix: string): string {
  const share = join(prefix, 'share');
  const folders = [share, ...readdirSync(share).map((entry) => join(share, entry))];
  const found = folders.find((folder) => existsSync(join(folder, 'english/errmsg.sys')));
  if (found === undefined) throw new Error(`No message files below ${share}`);
  return found;
}

// `lib/mysql/plugin` in Debian's packages, `lib64/mysql/plugin` in Oracle's image.
function pluginsOf(prefix: string): string {
  const folders = ['lib', 'lib64'].map((folder) => join(prefix, folder, 'mysql/plugin'));
  return folders.find((folder) => existsSync(folder)) ?? prefix;
}

// The names begin with `mysql_` up to MariaDB 10.11 and with `mariadb_` in later versions.
function systemTables(share: string): Promise<string[]> {
  const names = ['system_tables', 'performance_tables', 'system_tables_data'];
  const brand = existsSync(join(share, 'mariadb_system_tables.sql')) ? 'mariadb' : 'mysql';
  return Promise.all(names.map((name) => readFile(join(share, `${brand}_${name}.sql`), 'utf8')));
}
