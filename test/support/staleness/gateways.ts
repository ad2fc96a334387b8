import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { SCOPES } from '../../../src/caller.js';
import { loadConfig } from '../../../src/config.js';
import { Database } from '../../../src/database/database.js';
import { migrate } from '../../../src/database/migrate.js';
import { createServices, type Services } from '../../../src/services.js';
import { type GatewayProcess, startGateway } from '../gateway-process.js';
import { startMysql } from '../servers/mysql.js';
import { type RedisServer, startRedis } from '../servers/redis.js';
import type { SqlServer } from '../servers/sql-server.js';
import type { Target } from './load.js';

const QUOTA = 1_000_000_000;
const ACTOR = { name: 'test', requestId: null };

/** Three gateway processes that share a MySQL and a Redis, all of them the test's own, all of them to be killed. */
export class Gateways {
  readonly targets: Target[];
  private projects = 0;
  /** Of the test itself. */
  private readonly services: Services;

  private constructor(
    private readonly mysql: SqlServer,
    readonly redis: RedisServer,
    private readonly db: Database,
    private readonly env: Record<string, string>,
    private readonly processes: GatewayProcess[],
  ) {
    this.services = createServices(db, Date.now);
    this.targets = processes.map(({ url }, index) => ({ name: `process ${index}`, url, isUp: true }));
  }

  static async start(): Promise<Gateways> {
    // Keeps its data, so that it can come back with those of a moment before it died.
    const [mysql, redis] = await Promise.all([startMysql(), startRedis({ args: ['--appendonly', 'yes'] })]);
    const url = `${mysql.url}/petstore`;
    const connection = await createConnection(mysql.url);
    await connection.query('CREATE DATABASE petstore');
    await connection.end();
    const target = loadConfig({ DATABASE_URL: url }).database;
    await migrate(target);
    const env = { DATABASE_URL: url, REDIS_URL: redis.url };
    const processes = await Promise.all([0, 1, 2].map(() => startGateway({ env })));
    return new Gateways(mysql, redis, await Database.open(target), env, processes);
  }

  /** A token of a new project. */
  async newToken(): Promise<string> {
    const { projects, apiKeys } = this.services;
    this.projects += 1;
    const quota = { plan: 'ENTERPRISE', perMinute: QUOTA, perDay: QUOTA } as const;
    const project = await projects.create(ACTOR, { slug: `herd-${this.projects}`, name: null, ...quota });
    const wanted = { projectId: project.id, name: 'test', scopes: SCOPES, expiresAtMs: null };
    return (await apiKeys.create(ACTOR, wanted)).token;
  }

  /** Kills the process while a write is on its way through it, and starts it again at the same port. */
  async killWriter(index: number): Promise<void> {
    const target = this.targets[index] as Target;
    await new Promise<void>((resolve) => {
      target.onWrite = () => setTimeout(resolve, Math.random() * 4);
    });
    delete target.onWrite;
    target.isUp = false;
    const { port } = this.processes[index] as GatewayProcess;
    await this.processes[index]?.kill('SIGKILL');
    this.processes[index] = await startGateway({ env: { ...this.env, PORT: String(port) } });
    target.isUp = true;
  }

  /** How often an index was entered since the start of the database: once for each list of pets, several in a statement or not. */
  async indexReads(): Promise<number> {
    const connection = await createConnection(this.mysql.url);
    const [rows] = await connection.query<RowDataPacket[]>("SHOW GLOBAL STATUS LIKE 'Handler_read_key'");
    await connection.end();
    return Number(rows[0]?.Value);
  }

  faults(): string[] {
    return this.processes.flatMap((process) => process.faults());
  }

  async stop(): Promise<void> {
    await Promise.all(this.processes.map((process) => process.kill('SIGKILL')));
    await this.db.close();
    await Promise.all([this.redis.stop(), this.mysql.stop()]);
  }
}
