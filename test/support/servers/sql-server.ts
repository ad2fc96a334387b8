import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { constants } from 'node:fs';
import { cp, mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { cachedFolder } from './cached-folder.js';
import { Daemon, freePort, type Program } from './daemon.js';

/** A running MySQL or MariaDB of the test's own, or the one a `TEST_…_URL` names. */
export interface SqlServer {
  /** `mysql://root@127.0.0.1:3306`, without a database. */
  url: string;
  /** Resolves for SIGKILL and SIGTERM when the process is gone, for SIGSTOP when it no longer runs. Rejects when the server is not ours. */
  kill(signal: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP' | 'SIGCONT'): Promise<void>;
  /** Same data, same port; a running server is shut down first. Resolves when it accepts queries. Rejects when the server is not ours. */
  restart(): Promise<void>;
  /** Ends the server and removes its data. A server that is not ours keeps running. */
  stop(): Promise<void>;
}

/** A server program and what differs between the products. */
export interface SqlEngine {
  program: Program;
  /** What `--version` prints. */
  version: string;
  /** Arguments for every run. */
  settings: string[];
  /** Makes an empty data directory usable by `root@127.0.0.1`; the SQL arrives on standard input. */
  bootstrap: { args: string[]; sql: string };
}

/** An engine that works here, and the path of a cached, cleanly shut down data directory of it. */
export interface FoundEngine {
  engine: SqlEngine;
  template: string;
}

/** Rejects when the engine does not work here. */
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
    // The server's unique id: two copies would share it.
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
  let port = await freePort();
  const start = async () => {
    const url = `mysql://root@127.0.0.1:${port}`;
    const socket = join(home, 'socket');
    const address = ['--bind-address=127.0.0.1', `--port=${port}`, `--socket=${socket}`];
    const daemon = new Daemon({
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
    try {
      await daemon.waitUntil(() => answer(url, socket));
      return daemon;
    } catch (error) {
      await daemon.kill('SIGKILL');
      throw error;
    }
  };
  let daemon = await start().catch(async (error) => {
    if (/Address already in use|Another server answers/.test(error.message)) {
      port = await freePort();
      return start();
    }
    await rm(home, { recursive: true, force: true });
    throw error;
  });
  return {
    url: `mysql://root@127.0.0.1:${port}`,
    kill: (signal) => daemon.kill(signal),
    restart: async () => {
      await daemon.kill('SIGTERM');
      daemon = await start();
    },
    stop: async () => {
      await daemon.kill('SIGKILL');
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** The server that the environment variable names. Rejects when it does not answer. */
export async function givenSqlServer(variable: string, given: string): Promise<SqlServer> {
  const url = given.replace(/^(\w+:\/\/[^/?]+).*$/, '$1');
  await answer(url).catch((error) => {
    throw new Error(`${variable} is set but its server does not answer: ${error.message}`, { cause: error });
  });
  const refuse = async () => {
    throw new Error(
      `This test ends and restarts its server, which it may not do to the one ${variable} names: unset it`,
    );
  };
  return { url, kill: refuse, restart: refuse, stop: async () => {} };
}

// The socket tells our server from another test's that took the port between our looking and our starting.
async function answer(url: string, expectedSocket?: string): Promise<void> {
  const connection = await createConnection({ uri: url, connectTimeout: 5000 });
  try {
    const [rows] = await connection.query<RowDataPacket[]>('SELECT @@socket AS socket');
    if (expectedSocket !== undefined && rows[0]?.socket !== expectedSocket) {
      throw new Error(`Another server answers at ${url}`);
    }
  } finally {
    connection.destroy();
  }
}

// Acknowledged writes survive the death of the process, which tests rely on; only the machine's death is not prepared
// for. The doublewrite buffer stays on: SIGKILL can interrupt the write of a page halfway.
function commonArgs(dataDirectory: string): string[] {
  return [
    '--no-defaults',
    `--datadir=${dataDirectory}`,
    // Both products refuse to run as root unless told to.
    ...(process.getuid?.() === 0 ? ['--user=root'] : []),
    '--innodb-flush-log-at-trx-commit=1',
    '--innodb-flush-method=nosync',
    '--innodb-buffer-pool-size=64M',
    '--skip-name-resolve',
    '--performance-schema=OFF',
    '--secure-file-priv=',
  ];
}
