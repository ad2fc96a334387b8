import type { DatabaseTarget } from '../config/config.js';

type ServerDatabase = Exclude<DatabaseTarget, { kind: 'sqlite' }>;

const PROGRAM = {
  // Without the last option, a server with GTIDs asks for more rights, and another server refuses the dump.
  mysql: ['mysqldump', '--single-transaction', '--no-tablespaces', '--set-gtid-purged=OFF'],
  mariadb: ['mariadb-dump', '--single-transaction', '--no-tablespaces'],
};
const TLS = { mysql: '--ssl-mode=REQUIRED', mariadb: '--ssl' };

/**
 * The line for a shell that dumps the database into a new file with the permissions 0600. It has no password: the program
 * asks for it. Without `--protocol` the program would use a socket for `localhost`.
 */
export function dumpLine({ kind, url, tls }: ServerDatabase, file: string): string {
  const { hostname, port, username, password, pathname } = new URL(url);
  const words = [
    ...PROGRAM[kind],
    '--default-character-set=utf8mb4',
    '--protocol=TCP',
    `--host=${hostname.replace(/^\[(.*)\]$/, '$1')}`,
    `--port=${port || 3306}`,
    ...(username ? [`--user=${decodeURIComponent(username)}`] : []),
    ...(password ? ['--password'] : []),
    ...(tls ? [TLS[kind]] : []),
    decodeURIComponent(pathname.slice(1)),
  ];
  return `(umask 077; set -C; ${words.map(quoted).join(' ')} > ${quoted(file)})`;
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
