import { createConnection, type RowDataPacket } from 'mysql2/promise';
import type { Services } from '../../../src/app/services.js';
import { loadConfig } from '../../../src/ground/config/config.js';
import { Database } from '../../../src/ground/database/database.js';
import { migrate } from '../../../src/ground/migrating/migrate.js';
import { createServices, DATABASE_SCHEMA, SCOPES } from '../gateway/tested-gateway.js';
import { type GatewayProcess, startGateway } from '../gateway-process.js';
import { freePort } from '../servers/daemon.js';
import { startMysql } from '../servers/mysql.js';
import { type RedisServer, startRedis } from '../servers/redis.js';
import type { SqlServer } from '../servers/sql-server.js';
import type { Target } from './load.js';

const QUOTA = 1_000_000_000;
const ACTOR = { name: 'test', requestId: null };

/** Three gateway processes that share a MySQL and a Redis; the test owns all of them and may kill them. */
export class Gateways {
  readonly targets: Target[];
  private projects = 0;
  /** Services of the test's own process. */
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
    // Redis writes its data to disk, so that it can return with the data from before its death.
    const [mysql, redis] = await Promise.all([startMysql(), startRedis({ args: ['--appendonly', 'yes'] })]);
    const url = `${mysql.url}/petstore`;
    const connection = await createConnection(mysql.url);
    await connection.query('CREATE DATABASE petstore');
    await connection.end();
    const target = loadConfig({ DATABASE_URL: url }).database;
    await migrate(target, DATABASE_SCHEMA);
    // The request log reads indexes too, which `indexReads` counts.
    const env = { DATABASE_URL: url, REDIS_URL: redis.url, REQUEST_LOG: 'off' };
    const start = async () => startGateway({ env: { ...env, PORT: String(await freePort()) } });
    const processes = await Promise.all([0, 1, 2].map(start));
    return new Gateways(mysql, redis, await Database.open(target, DATABASE_SCHEMA), env, processes);
  }

  /** Creates a project and returns its token. */
  async newToken(): Promise<string> {
    const { projects, apiKeys } = this.services;
    this.projects += 1;
    const quota = { plan: 'ENTERPRISE', perMinute: QUOTA, perDay: QUOTA } as const;
    const project = await projects.create(ACTOR, { slug: `herd-${this.projects}`, name: null, ...quota });
    const wanted = { projectId: project.id, name: 'test', scopes: SCOPES, expiresAtMs: null };
    return (await apiKeys.create(ACTOR, wanted)).token;
  }

  /** Kills the process while it handles a write, and starts it again at the same port. */
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

  /**
   * Returns the index reads since the database started; each list of toys is one, even in a joint statement. The read that
   * finds the row of an update does not count: usage is added to many rows.
   */
  async indexReads(): Promise<number> {
    const connection = await createConnection(this.mysql.url);
    const [rows] = await connection.query<RowDataPacket[]>(
      "SHOW GLOBAL STATUS WHERE Variable_name IN ('Handler_read_key', 'Handler_update')",
    );
    await connection.end();
    const { Handler_read_key: reads, Handler_update: updates } = Object.fromEntries(
      rows.map(({ Variable_name: name, Value: value }) => [name, Number(value)]),
    );
    return reads - updates;
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
