import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import libsql from 'libsql';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import type { Plan } from '../../../src/tenants/projects/plans.js';
import { createTestDatabase, type DatabaseKind } from '../databases.js';
import { eventually } from '../eventually.js';
import { createTenant, type GatewayProcess, startGateway } from '../gateway-process.js';
import { startFaultProxy } from '../http/fault-proxy.js';
import { freePort } from '../servers/daemon.js';
import { type ProcessFaults, seenFile } from './process-faults.js';
import { StatementTrap } from './statement-trap.js';

const FAULTS_MODULE = resolve(import.meta.dirname, '../../../dist/test/support/durability/process-faults.js');
/** Nothing listens there, so each DNS question fails at once. */
const NO_RESOLVER = '127.0.0.1:9';
/** A fault may need its end before the process is ready again. */
const WAIT_MS = 60_000;

export interface Tenant {
  readonly token: string;
  readonly projectId: bigint;
}

interface TenantOptions {
  plan?: Plan;
  isLogged?: boolean;
}

/** A gateway process whose disk, clock, life and statements can be made to fail. */
export class FaultyGateway {
  /** Null on SQLite. */
  readonly trap: StatementTrap | null;
  private process: GatewayProcess | null = null;
  private faults: ProcessFaults = { clockAheadMs: 0, killedBehindStatement: null };
  private readonly faultsSeen: string[] = [];

  private constructor(
    readonly kind: DatabaseKind,
    private readonly directUrl: string,
    private readonly env: Record<string, string>,
    private readonly port: number,
    /** For files of the tests; it ends with the gateway. */
    readonly folder: string,
    trap: StatementTrap | null,
    private readonly release: () => Promise<void>,
    private readonly main: string | undefined,
  ) {
    this.trap = trap;
  }

  /** `main` is the compiled program; by default that of the tests. */
  static async start(kind: DatabaseKind, main?: string): Promise<FaultyGateway> {
    const database = await createTestDatabase(kind);
    const port = await freePort();
    const trap = kind === 'sqlite' ? null : new StatementTrap();
    const proxy = trap && (await startFaultProxy(Number(new URL(database.url).port)));
    if (trap) await proxy?.set(trap.distortion);
    const url = new URL(database.url);
    if (proxy) url.port = String(proxy.port);
    const folder = await mkdtemp(join(tmpdir(), 'petstore-faults-'));
    const env = {
      DATABASE_URL: proxy ? url.href : database.url,
      PORT: String(port),
      OVERLOAD: 'off',
      DNS_SERVERS: NO_RESOLVER,
      PLATFORM_HOST: 'edge.test',
      TEST_FAULTS: join(folder, 'orders'),
    };
    const release = async () => {
      await proxy?.stop();
      await database.remove();
      await rm(folder, { recursive: true });
    };
    const gateway = new FaultyGateway(kind, database.url, env, port, folder, trap, release, main);
    await gateway.begin();
    return gateway;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** The address for commands, through the same faults as the gateway's. */
  get databaseUrl(): string {
    return String(this.env.DATABASE_URL);
  }

  /** The file of SQLite. */
  get path(): string {
    return this.directUrl.replace('sqlite:', '');
  }

  get hasEnded(): boolean {
    return this.process?.hasEnded() ?? true;
  }

  /** The log lines that report a fault of the program, of all its processes. */
  logged(): string[] {
    return [...this.faultsSeen, ...(this.process?.faults() ?? [])];
  }

  async tenant({ plan = 'ENTERPRISE', isLogged = false }: TenantOptions = {}): Promise<Tenant> {
    const token = await createTenant(this.directUrl, plan, { isLogged });
    const digest = createHash('sha256').update(token).digest('hex');
    const [row] = await this.query('SELECT project_id AS id FROM api_keys WHERE digest = ?', [digest]);
    const projectId = BigInt(String(row?.id));
    await this.query('UPDATE projects SET published_at_ms = 1 WHERE id = ?', [projectId]);
    return { token, projectId };
  }

  /** Reads the database as another program does: only what is committed is there. */
  async query(sql: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
    if (this.kind === 'sqlite') {
      const file = new libsql(this.path, { timeout: 10_000 });
      try {
        const statement = file.prepare(sql).safeIntegers(true);
        if (statement.reader) return statement.all(...values) as Record<string, unknown>[];
        statement.run(...values);
        return [];
      } finally {
        file.close();
      }
    }
    const options = { supportBigNumbers: true, bigNumberStrings: true };
    const connection = await createConnection({
      uri: this.directUrl.replace(/^\w+:/, 'mysql:'),
      ...options,
    });
    try {
      const [rows] = await connection.query(sql, values);
      return rows as Record<string, unknown>[];
    } finally {
      await connection.end();
    }
  }

  async count(from: string, values: unknown[]): Promise<number> {
    const [row] = await this.query(`SELECT COUNT(*) AS found FROM ${from}`, values);
    return Number(row?.found);
  }

  /** Another program keeps everybody from writing, until the returned function is called. */
  async lock(): Promise<() => Promise<void>> {
    if (this.kind === 'sqlite') {
      const file = new libsql(this.path, { timeout: 10_000 });
      file.exec('BEGIN IMMEDIATE');
      return async () => {
        file.exec('ROLLBACK');
        file.close();
      };
    }
    const connection = await createConnection(this.directUrl.replace(/^\w+:/, 'mysql:'));
    const [tables] = await connection.query<RowDataPacket[]>('SHOW TABLES');
    const names = tables.map((row) => String(Object.values(row)[0]));
    await connection.query(`LOCK TABLES ${names.map((name) => `${name} READ`).join(', ')}`);
    return () => connection.end();
  }

  /** Resolves once the process follows the orders, or has ended. */
  async order(faults: Partial<ProcessFaults>): Promise<void> {
    this.faults = { ...this.faults, ...faults };
    const text = await this.write();
    this.kill('SIGUSR2');
    const seen = seenFile(String(this.env.TEST_FAULTS));
    await eventually('orders seen', async () => this.hasEnded || (await readFile(seen, 'utf8')) === text);
  }

  async passTime(ms: number): Promise<void> {
    await this.order({ clockAheadMs: this.faults.clockAheadMs + ms });
  }

  /** No file of the process grows beyond this number of bytes; null = no bound. */
  boundFiles(bytes: number | null): void {
    const bound = bytes === null ? 'unlimited' : String(bytes);
    const args = ['--pid', String(this.running.processId), `--fsize=${bound}:unlimited`];
    const { status, stderr } = spawnSync('prlimit', args, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`prlimit: ${stderr}`);
  }

  kill(signal: NodeJS.Signals): void {
    try {
      process.kill(this.running.processId, signal);
    } catch (error) {
      // It has just ended.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }

  /** Resolves once the process has ended. */
  async ended(): Promise<number | null> {
    return (await this.running.ended).code;
  }

  /** Starts the program again, after the process has ended. */
  async begin(faults: Partial<ProcessFaults> = {}): Promise<void> {
    if (this.process) this.faultsSeen.push(...this.process.faults());
    this.faults = { ...this.faults, killedBehindStatement: null, ...faults };
    await this.write();
    this.process = await startGateway({
      env: this.env,
      nodeArgs: ['--import', FAULTS_MODULE],
      ...(this.main !== undefined && { main: this.main }),
    });
  }

  async ready(): Promise<void> {
    await eventually('ready again', async () => (await fetch(`${this.url}/readyz`)).ok, WAIT_MS);
  }

  async stop(): Promise<void> {
    if (!this.hasEnded) await this.running.kill('SIGKILL');
    await this.release();
  }

  private async write(): Promise<string> {
    // The number makes each order a new text.
    const text = JSON.stringify({ ...this.faults, order: performance.now() });
    await writeFile(String(this.env.TEST_FAULTS), text);
    return text;
  }

  private get running(): GatewayProcess {
    if (!this.process) throw new Error('The gateway has not begun.');
    return this.process;
  }
}
