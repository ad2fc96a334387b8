import { existsSync, statSync } from 'node:fs';
import Libsql from 'libsql/promise';
import { type DatabaseTarget, eachServer } from '../config/config.js';
import { askEngine } from '../database/cluster/server-facts.js';
import { type DatabaseSchema, withDataSource } from '../database/data-source.js';
import { examineSqliteFile } from '../database/sqlite/sqlite-file.js';
import { AppError } from '../kernel/errors.js';
import { type Queries, requireNoUnfinishedCopy } from '../migrating/migrate.js';
import { appliedMigrations } from '../migrating/migration-plan.js';

const OPEN_WAIT_MS = 10_000;
/** `integrity_check` returns up to 100 rows; the first says enough. */
const CHECK = 'PRAGMA integrity_check(1)';

/** Writes the file's database as it is at this moment into an empty file. Writers and readers continue meanwhile. */
export function backupSqlite(path: string, emptyFile: string): Promise<void> {
  return onFile(path, async (file) => {
    await requireNoUnfinishedCopy(file);
    await file.query(`VACUUM INTO '${emptyFile.replaceAll("'", "''")}'`);
  });
}

/**
 * Returns the newest migration of an undamaged database file. Throws `AppError` for a damaged file, and for a file that
 * this release can't serve.
 */
export function verifySqlite(path: string, schema: DatabaseSchema): Promise<string> {
  return onFile(path, async (file) => {
    const [{ integrity_check: found }] = await file.query(CHECK).catch((error: NodeJS.ErrnoException) => {
      throw damaged(path, error.message);
    });
    if (found !== 'ok') throw damaged(path, found);
    // SQLite reads the missing end of a last page as zeros.
    const [{ page_size: pageBytes }] = await file.query('PRAGMA page_size');
    if (statSync(path).size % pageBytes !== 0) throw damaged(path, 'its last page is not complete');
    await requireNoUnfinishedCopy(file);
    const migrations = schema.migrations.map((Migration) => new Migration());
    const newest = (await appliedMigrations(file, migrations)).at(-1);
    if (newest !== undefined) return newest;
    throw new AppError('invalid_request', `${path} is not a database of the Petstore Gateway.`);
  });
}

/** Queries run outside the event loop. */
async function onFile<T>(path: string, work: (file: Queries) => Promise<T>): Promise<T> {
  // The driver would create the file.
  if (!existsSync(path)) throw new AppError('not_found', `There is no database at ${path}.`);
  examineSqliteFile(path);
  const database = new Libsql(path, { timeout: OPEN_WAIT_MS });
  try {
    return await work({ query: async (sql) => (await database.prepare(sql)).all() });
  } finally {
    database.close();
  }
}

function damaged(path: string, how: string): AppError {
  return new AppError('invalid_request', `${path} is damaged: ${how}. Use another backup.`);
}

/** Asks the servers which program dumps them. The first answer counts. Throws the driver's error when none answers. */
export async function askDumpLine(database: ServerDatabase, file: string): Promise<string> {
  const settings = { poolSize: 1, queryTimeoutMs: OPEN_WAIT_MS };
  const lines = eachServer(database).map(async (server) => {
    const { engine } = await withDataSource(server, { entities: [], migrations: [] }, settings, (source) =>
      askEngine(server, (sql) => source.query(sql)),
    );
    return dumpLine(server, engine === 'mariadb' ? 'mariadb' : 'mysql', file);
  });
  return Promise.any(lines).catch(({ errors: [first] }: AggregateError) => {
    throw first;
  });
}

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
export function dumpLine({ url, tls }: ServerDatabase, engine: ServerDatabase['kind'], file: string): string {
  const { hostname, port, username, password, pathname } = new URL(url);
  const words = [
    ...PROGRAM[engine],
    '--default-character-set=utf8mb4',
    '--protocol=TCP',
    `--host=${hostname.replace(/^\[(.*)\]$/, '$1')}`,
    `--port=${port || 3306}`,
    ...(username ? [`--user=${decodeURIComponent(username)}`] : []),
    ...(password ? ['--password'] : []),
    ...(tls ? [TLS[engine]] : []),
    decodeURIComponent(pathname.slice(1)),
  ];
  return `(umask 077; set -C; ${words.map(quoted).join(' ')} > ${quoted(file)})`;
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
