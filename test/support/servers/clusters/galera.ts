import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { Daemon, freePort } from '../daemon.js';
import { unpackDebianPackages } from '../programs/debian-packages.js';
import { mariadbEngine } from '../programs/sql-programs.js';
import { commonArgs, type FoundEngine, withTemplate } from '../sql-server.js';
import { putTransfer, TRANSFER } from './state-transfer.js';

const execute = promisify(execFile);

/** Nodes of MariaDB with Galera on 127.0.0.1. */
export interface Galera {
  nodes: readonly GaleraNode[];
  /** Ends all nodes and removes their data. */
  stop(): Promise<void>;
}

export interface GaleraNode {
  /** `mysql://root@127.0.0.1:3306`, without a database. */
  url: string;
  /** SIGKILL or SIGTERM; `start` starts it again. SIGSTOP and SIGCONT freeze and thaw it. Resolves when the signal has taken effect. */
  kill(signal: Signal): Promise<void>;
  /** Starts a node that has ended. Resolves when it has caught up with a node that is alive. With NEW_CLUSTER it is the first. */
  start(args?: string[]): Promise<void>;
  /** As Debian's service starts a killed node: with its own data, so that it gets only the write sets that it has missed. */
  recover(): Promise<void>;
  /** The network between this node and the others is cut, until `join`. Clients still reach it. */
  cut(): Promise<void>;
  /** Resolves when the node has caught up. */
  join(): Promise<void>;
  /** Runs a statement as root, without a wait for the other nodes. */
  query(sql: string): Promise<RowDataPacket[]>;
}

type Signal = 'SIGKILL' | 'SIGTERM' | 'SIGSTOP' | 'SIGCONT';

export const NEW_CLUSTER = '--wsrep-new-cluster';

export interface GaleraOptions {
  nodes?: number;
  /** More arguments for each `mariadbd`. */
  args?: string[];
  /** More of `wsrep_provider_options`, such as `evs.suspect_timeout=PT1S`. */
  providerOptions?: string;
}

/** Starts a cluster from the packages of this machine's own Debian or Ubuntu release. Resolves when all nodes are synced. */
export async function startGalera({
  nodes: size = 3,
  args = [],
  providerOptions = '',
}: GaleraOptions = {}): Promise<Galera> {
  const root = await unpackDebianPackages({
    name: 'galera-packages',
    suite: 'own',
    packages: ['mariadb-server-core', 'galera-4'],
  });
  const found = await withTemplate(
    await mariadbEngine(root.program('usr/sbin/mariadbd'), `${root.path}/usr`),
  );
  const ports: number[] = [];
  for (const _ of Array.from({ length: size })) ports.push(await freePort());
  const provider = `${root.path}/usr/lib/galera/libgalera_smm.so`;
  const nodes = await Promise.all(
    ports.map((port) => OwnNode.create(found, { port, ports, provider, args, providerOptions })),
  );
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.stop()));
  };
  try {
    const [first, ...others] = nodes;
    await first?.start([NEW_CLUSTER]);
    await Promise.all(others.map((node) => node.start()));
  } catch (error) {
    await stop();
    throw error;
  }
  return { nodes, stop };
}

interface Membership {
  port: number;
  /** Of all nodes' groups. */
  ports: readonly number[];
  provider: string;
  args: readonly string[];
  providerOptions: string;
}

class OwnNode implements GaleraNode {
  readonly url: string;
  private daemon: Daemon | null = null;

  private constructor(
    private readonly engine: FoundEngine['engine'],
    private readonly home: string,
    private readonly port: number,
    private readonly membership: string[],
  ) {
    this.url = `mysql://root@127.0.0.1:${port}`;
  }

  static async create(
    { engine, template }: FoundEngine,
    { port: groupPort, ports, provider, args, providerOptions }: Membership,
  ): Promise<OwnNode> {
    const home = await mkdtemp(join(tmpdir(), 'petstore-galera-'));
    const data = join(home, 'data');
    if (groupPort === ports[0])
      await cp(template, data, { recursive: true, mode: constants.COPYFILE_FICLONE });
    // A node without data gets that of another.
    else await mkdir(data);
    await putTransfer(home);
    const group = `gmcast.listen_addr=tcp://127.0.0.1:${groupPort}`;
    const transfer = `ist.recv_addr=127.0.0.1:${await freePort()}`;
    const port = await freePort();
    return new OwnNode(engine, home, port, [
      '--wsrep-on=ON',
      `--wsrep-provider=${provider}`,
      `--wsrep-cluster-name=petstore-${ports[0]}`,
      `--wsrep-cluster-address=gcomm://${ports.map((each) => `127.0.0.1:${each}`).join()}`,
      '--wsrep-node-address=127.0.0.1',
      `--wsrep-node-incoming-address=127.0.0.1:${port}`,
      `--wsrep-sst-method=${TRANSFER}`,
      `--wsrep-provider-options=${group};${transfer};gcache.size=64M;gcache.dir=${data};pc.recovery=FALSE;${providerOptions}`,
      '--innodb-autoinc-lock-mode=2',
      '--binlog-format=ROW',
      // Without a line for each connection that a gateway drops.
      '--log-warnings=1',
      ...args,
    ]);
  }

  async start(args: string[] = []): Promise<void> {
    if (this.daemon?.isRunning) throw new Error('the node runs already');
    const { program } = this.engine;
    this.daemon = new Daemon({
      program: {
        file: '/usr/bin/env',
        args: [`PATH=${join(this.home, 'bin')}:${process.env.PATH}`, program.file, ...program.args],
      },
      args: [...this.common, ...this.membership, ...args],
      home: this.home,
      logFile: join(this.home, 'log'),
    });
    await this.untilSynced();
  }

  async recover(): Promise<void> {
    const { file, args } = this.engine.program;
    const { stderr } = await execute(file, [...args, ...this.common, ...this.membership, '--wsrep-recover']);
    const [, position] = /Recovered position: (\S+)/.exec(stderr) ?? [];
    if (position === undefined) throw new Error(`no position was recovered:\n${stderr}`);
    await this.start([`--wsrep-start-position=${position}`]);
  }

  async kill(signal: Signal): Promise<void> {
    await this.daemon?.kill(signal);
  }

  async cut(): Promise<void> {
    await this.query("SET GLOBAL wsrep_provider_options = 'gmcast.isolate=1'");
  }

  async join(): Promise<void> {
    await this.query("SET GLOBAL wsrep_provider_options = 'gmcast.isolate=0'");
    await this.untilSynced();
  }

  async query(sql: string): Promise<RowDataPacket[]> {
    const connection = await createConnection({ uri: this.url, connectTimeout: 5_000 });
    try {
      const [rows] = await connection.query<RowDataPacket[]>(sql);
      return rows;
    } finally {
      await connection.end();
    }
  }

  async stop(): Promise<void> {
    if (this.daemon?.isRunning) await this.daemon.kill('SIGKILL');
    await rm(this.home, { recursive: true, force: true });
  }

  private get common(): string[] {
    return [
      ...commonArgs(join(this.home, 'data')),
      ...this.engine.settings,
      '--bind-address=127.0.0.1',
      `--port=${this.port}`,
      `--socket=${this.socket}`,
      `--pid-file=${join(this.home, 'pid')}`,
    ];
  }

  private get socket(): string {
    return join(this.home, 'socket');
  }

  private async untilSynced(): Promise<void> {
    await this.daemon?.waitUntil(async () => {
      const rows = await this.query(
        "SELECT @@socket AS socket, variable_value AS state FROM information_schema.global_status WHERE variable_name = 'wsrep_local_state_comment'",
      );
      if (rows[0]?.socket !== this.socket) throw new Error(`Another server answers at ${this.url}`);
      const [ready] = await this.query("SHOW STATUS LIKE 'wsrep_ready'");
      if (rows[0].state !== 'Synced' || ready?.Value !== 'ON')
        throw new Error(`the node is ${rows[0].state}`);
    });
  }
}
