import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { Daemon, freePort } from '../daemon.js';
import { findMysql } from '../mysql.js';
import { commonArgs, type FoundEngine } from '../sql-server.js';

/** Members of a group of MySQL on 127.0.0.1; clients write to each. */
export interface Group {
  members: readonly GroupMember[];
  /** Ends all members and removes their data. */
  stop(): Promise<void>;
}

export interface GroupMember {
  /** `mysql://root@127.0.0.1:3306`, without a database. */
  url: string;
  /** SIGKILL; `recover` starts it again. SIGSTOP and SIGCONT freeze and thaw it. Resolves when the signal has taken effect. */
  kill(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void>;
  /** Starts a killed member. Resolves when it has caught up with the group. */
  recover(): Promise<void>;
  /** The member leaves the group, and clients still reach it, until `join`. */
  cut(): Promise<void>;
  /** Resolves when the member has caught up. */
  join(): Promise<void>;
  /** Runs a statement as root. */
  query(sql: string): Promise<RowDataPacket[]>;
}

/** Starts a group with several primaries. Resolves when all members are online. */
export async function startGroup({ members: size = 3 } = {}): Promise<Group> {
  const found = await findMysql();
  const ports: number[] = [];
  for (const _ of Array.from({ length: size })) ports.push(await freePort());
  const name = randomUUID();
  const members = await Promise.all(ports.map((port) => OwnMember.create(found, { name, port, ports })));
  const stop = async () => {
    await Promise.all(members.map((member) => member.stop()));
  };
  try {
    // In turn, because a group takes in a single member at a time.
    for (const member of members) await member.begin(member === members[0]);
  } catch (error) {
    await stop();
    throw error;
  }
  return { members, stop };
}

interface Membership {
  name: string;
  port: number;
  /** Of all members' groups. */
  ports: readonly number[];
}

class OwnMember implements GroupMember {
  readonly url: string;
  private daemon: Daemon | null = null;

  private constructor(
    private readonly engine: FoundEngine['engine'],
    private readonly home: string,
    private readonly args: string[],
    port: number,
  ) {
    this.url = `mysql://root@127.0.0.1:${port}`;
  }

  static async create(
    { engine, template }: FoundEngine,
    { name, port: groupPort, ports }: Membership,
  ): Promise<OwnMember> {
    const home = await mkdtemp(join(tmpdir(), 'petstore-group-'));
    await cp(template, join(home, 'data'), { recursive: true, mode: constants.COPYFILE_FICLONE });
    const port = await freePort();
    const settings = {
      'group-name': name,
      'start-on-boot': 'OFF',
      'communication-stack': 'XCOM',
      'local-address': `127.0.0.1:${groupPort}`,
      'group-seeds': ports.map((each) => `127.0.0.1:${each}`).join(),
      'ip-allowlist': '127.0.0.0/8',
      'single-primary-mode': 'OFF',
      'enforce-update-everywhere-checks': 'ON',
      'recovery-get-public-key': 'ON',
      // Otherwise all wait 5 s more for a member that is away.
      'member-expel-timeout': '0',
    };
    const args = [
      ...commonArgs(join(home, 'data')),
      ...engine.settings.filter((each) => each !== '--skip-log-bin'),
      '--bind-address=127.0.0.1',
      `--port=${port}`,
      `--socket=${join(home, 'socket')}`,
      `--pid-file=${join(home, 'pid')}`,
      `--server-id=${port}`,
      '--gtid-mode=ON',
      '--enforce-gtid-consistency=ON',
      '--log-bin=binlog',
      '--report-host=127.0.0.1',
      `--report-port=${port}`,
      // The table of the members is part of it.
      '--performance-schema=ON',
      '--plugin-load-add=group_replication.so',
      ...Object.entries(settings).map(([key, value]) => `--loose-group-replication-${key}=${value}`),
    ];
    return new OwnMember(engine, home, args, port);
  }

  /** The first start. */
  async begin(isFirst: boolean): Promise<void> {
    await this.run();
    // The copies of one data folder have no transactions of their own.
    await this.query('RESET BINARY LOGS AND GTIDS');
    await this.query(
      "CHANGE REPLICATION SOURCE TO SOURCE_USER = 'root' FOR CHANNEL 'group_replication_recovery'",
    );
    await this.query(`SET GLOBAL group_replication_bootstrap_group = ${isFirst ? 'ON' : 'OFF'}`);
    await this.query('START GROUP_REPLICATION');
    await this.query('SET GLOBAL group_replication_bootstrap_group = OFF');
    await this.untilOnline();
  }

  async recover(): Promise<void> {
    if (this.daemon?.isRunning) throw new Error('the member runs already');
    await this.run();
    await this.join();
  }

  async cut(): Promise<void> {
    await this.query('STOP GROUP_REPLICATION');
  }

  /** Refused while the others still count its former life as a member. */
  async join(): Promise<void> {
    await this.daemon?.waitUntil(async () => void (await this.query('START GROUP_REPLICATION')));
    await this.untilOnline();
  }

  async kill(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    await this.daemon?.kill(signal);
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

  private async run(): Promise<void> {
    const { program } = this.engine;
    this.daemon = new Daemon({ program, args: this.args, home: this.home, logFile: join(this.home, 'log') });
    await this.daemon.waitUntil(async () => {
      const [row] = await this.query('SELECT @@socket AS socket');
      if (row?.socket !== join(this.home, 'socket')) throw new Error(`Another server answers at ${this.url}`);
    });
  }

  private async untilOnline(): Promise<void> {
    await this.daemon?.waitUntil(async () => {
      const [row] = await this.query(
        'SELECT member_state AS state FROM performance_schema.replication_group_members WHERE member_id = @@server_uuid',
      );
      if (row?.state !== 'ONLINE') throw new Error(`the member is ${row?.state}`);
    });
  }
}
