import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { constants } from 'node:fs';
import { cp, mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { Daemon, type Program } from './daemon.js';
import { anotherAnswers, givenServer, type OwnServer, runOwnServer } from './own-server.js';
import { cachedFolder } from './programs/cached-folder.js';

/** A running MySQL or MariaDB, started by the test or named by a `TEST_…_URL`. */
export interface SqlServer extends OwnServer {
  /** `mysql://root@127.0.0.1:3306`, without a database. */
  url: string;
}

/** A server program and the differences between the products. */
export interface SqlEngine {
  program: Program;
  /** What `--version` prints. */
  version: string;
  /** Arguments for every run. */
  settings: string[];
  /** Prepares an empty data directory for `root@127.0.0.1`; the SQL is sent to standard input. */
  bootstrap: { args: string[]; sql: string };
}

/** An engine that works on this machine, and the path of a cached data directory after a clean shutdown. */
export interface FoundEngine {
  engine: SqlEngine;
  template: string;
}

/** Creates or finds the engine's data template. Rejects when the engine does not work on this machine. */
export async function withTemplate(engine: SqlEngine): Promise<FoundEngine> {
  return { engine, template: await dataTemplate(engine) };
}

async function dataTemplate({ program, version, settings, bootstrap }: SqlEngine): Promise<string> {
  const key = createHash('sha256')
    .update(version)
    .update(JSON.stringify(bootstrap))
    .digest('hex')
    .slice(0, 12);
  const folder = await cachedFolder(`sql-data-${key}`, async (draft) => {
    const dataDirectory = join(draft, 'data');
    const log = join(draft, 'log');
    await mkdir(dataDirectory);
    await writeFile(join(draft, 'bootstrap.sql'), bootstrap.sql);
    const input = await open(join(draft, 'bootstrap.sql'));
    const output = await open(log, 'w');
    const args = [...program.args, ...commonArgs(dataDirectory), ...settings, ...bootstrap.args];
    const child = spawn(program.file, args, { stdio: [input.fd, output.fd, output.fd] });
    const [code] = await once(child, 'exit').finally(() => Promise.all([input.close(), output.close()]));
    if (code !== 0) {
      const reason = (await readFile(log, 'utf8')).slice(-4000);
      throw new Error(`It could not create its system tables:\n${reason}`);
    }
    // The server's unique id, which two copies must not share.
    await rm(join(dataDirectory, 'auto.cnf'), { force: true });
  });
  return join(folder, 'data');
}

/** Starts the engine on a copy of the template and a free port. */
export async function runSqlServer(
  { engine, template }: FoundEngine,
  args: string[] = [],
): Promise<SqlServer> {
  const home = await mkdtemp(join(tmpdir(), 'petstore-sql-'));
  const dataDirectory = join(home, 'data');
  await cp(template, dataDirectory, { recursive: true, mode: constants.COPYFILE_FICLONE });
  const socket = join(home, 'socket');
  const urlOf = (port: number) => `mysql://root@127.0.0.1:${port}`;
  const server = await runOwnServer({
    home,
    daemon: (port) => {
      const address = ['--bind-address=127.0.0.1', `--port=${port}`, `--socket=${socket}`];
      return new Daemon({
        program: engine.program,
        args: [
          ...commonArgs(dataDirectory),
          ...engine.settings,
          ...address,
          `--pid-file=${join(home, 'pid')}`,
          ...args,
        ],
        home,
        logFile: join(home, 'log'),
      });
    },
    probe: (port) => answer(urlOf(port), socket),
    restartSignal: 'SIGTERM',
  });
  return { ...server, url: urlOf(server.port) };
}

/** Returns the server that the environment variable names. Rejects when it does not answer. */
export async function givenSqlServer(variable: string, given: string): Promise<SqlServer> {
  const url = given.replace(/^(\w+:\/\/[^/?]+).*$/, '$1');
  return { ...(await givenServer(variable, () => answer(url))), url };
}

// The socket distinguishes this server from another test's that took the port first.
async function answer(url: string, expectedSocket?: string): Promise<void> {
  const connection = await createConnection({ uri: url, connectTimeout: 5000 });
  try {
    const [rows] = await connection.query<RowDataPacket[]>('SELECT @@socket AS socket');
    if (expectedSocket !== undefined && rows[0]?.socket !== expectedSocket) {
      throw anotherAnswers(url);
    }
  } finally {
    connection.destroy();
  }
}

// Acknowledged writes survive the death of the process, as tests require, but not that of the machine. The doublewrite
// buffer stays on, because SIGKILL can interrupt the write of a page.
export function commonArgs(dataDirectory: string): string[] {
  return [
    '--no-defaults',
    `--datadir=${dataDirectory}`,
    // Both products refuse to run as root without this option.
    ...(process.getuid?.() === 0 ? ['--user=root'] : []),
    '--innodb-flush-log-at-trx-commit=1',
    '--innodb-flush-method=nosync',
    '--innodb-buffer-pool-size=64M',
    '--skip-name-resolve',
    '--performance-schema=OFF',
    '--secure-file-priv=',
  ];
}
