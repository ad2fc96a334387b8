import { loadConfig } from '../../../../src/ground/config/config.js';
import { Database } from '../../../../src/ground/database/database.js';
import { migrate } from '../../../../src/ground/migrating/migrate.js';
import { createServices, DATABASE_SCHEMA, SCOPES } from '../../gateway/tested-gateway.js';
import { type GatewayProcess, startGateway } from '../../gateway-process.js';
import { freePort } from '../../servers/daemon.js';
import type { FollowedProject } from './followed-project.js';

const QUOTA = 1_000_000_000;
const ACTOR = { name: 'test', requestId: null };
/** The log was switched on so long ago that it is open. */
const OPEN_MS = 60_000;
const MAX_KILL_DELAY_MS = 4;

/** An address that stays the same when its process is replaced. */
export interface Target {
  readonly url: string;
  isUp: boolean;
  /** Called when a write was sent to it. */
  onWrite?: () => void;
}

/** Processes that write, and one more for readers only, on one database and Redis. */
export class Gateways {
  private readonly targets: Target[];
  private readonly outputs: GatewayProcess[];

  private constructor(
    private readonly env: Record<string, string>,
    private readonly processes: GatewayProcess[],
  ) {
    this.targets = processes.map(({ url }) => ({ url, isUp: true }));
    this.outputs = [...processes];
  }

  static async start(databaseUrl: string, redisUrl: string, writers: number): Promise<Gateways> {
    const env = {
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      REQUEST_LOG: 'off',
      DEMO: '0',
      SHUTDOWN_SECONDS: '2',
    };
    const ports = await Promise.all(Array.from({ length: writers + 1 }, freePort));
    const start = (port: number) => startGateway({ env: { ...env, PORT: String(port) } });
    return new Gateways(env, await Promise.all(ports.map(start)));
  }

  /** A process that may be written to. */
  writer(): Target {
    return oneUp(this.targets.slice(0, -1));
  }

  /** Any process, for a reader. */
  address(): string {
    return oneUp(this.targets).url;
  }

  /** Kills a process just after a write was sent to it. */
  async killWriter(): Promise<void> {
    const target = this.writer();
    await new Promise<void>((resolve) => {
      target.onWrite = () => setTimeout(resolve, Math.random() * MAX_KILL_DELAY_MS);
    });
    delete target.onWrite;
    await this.replace(this.targets.indexOf(target), 'SIGKILL');
  }

  killReader(): Promise<void> {
    return this.replace(this.targets.length - 1, 'SIGKILL');
  }

  /** Replaces all processes, one after the other. */
  async replaceAll(): Promise<void> {
    for (const index of this.processes.keys()) await this.replace(index, 'SIGTERM');
  }

  /** Ends all processes at once, and starts them after `work`. */
  async whileStopped(work: () => Promise<void>): Promise<void> {
    for (const target of this.targets) target.isUp = false;
    await Promise.all(this.processes.map((_, index) => this.end(index, index % 2 ? 'SIGTERM' : 'SIGKILL')));
    await work();
    await Promise.all(this.processes.map((_, index) => this.startAgain(index)));
  }

  /** The log lines of all processes that report a fault of the program. */
  faults(): string[] {
    return this.outputs.flatMap((process) => process.faults());
  }

  async stop(): Promise<void> {
    await Promise.all(this.processes.map((process) => process.kill('SIGKILL')));
  }

  private async replace(index: number, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    await this.end(index, signal);
    await this.startAgain(index);
  }

  private async end(index: number, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const [process, target] = [this.processes[index], this.targets[index]];
    if (target && signal === 'SIGKILL') target.isUp = false;
    await process?.kill(signal);
    if (target) target.isUp = false;
    await process?.ended;
  }

  private async startAgain(index: number): Promise<void> {
    const target = this.targets[index] as Target;
    const PORT = new URL(target.url).port;
    const process = await startGateway({ env: { ...this.env, PORT } });
    this.processes[index] = process;
    this.outputs.push(process);
    target.isUp = true;
  }
}

/** Migrates the database, and creates projects whose change log is open. */
export async function createFollowedProjects(databaseUrl: string, count: number): Promise<FollowedProject[]> {
  const target = loadConfig({ DATABASE_URL: databaseUrl }).database;
  await migrate(target, DATABASE_SCHEMA);
  const db = await Database.open(target, DATABASE_SCHEMA);
  const { projects, apiKeys } = createServices(db, () => Date.now() - OPEN_MS);
  const created: FollowedProject[] = [];
  for (let number = 1; number <= count; number += 1) {
    const quota = { plan: 'ENTERPRISE', perMinute: QUOTA, perDay: QUOTA } as const;
    const slug = `followed-${number}`;
    const { id: projectId } = await projects.create(ACTOR, { slug, name: null, ...quota });
    const wanted = { projectId, name: 'test', scopes: SCOPES, expiresAtMs: null };
    const { token } = await apiKeys.create(ACTOR, wanted);
    await projects.change(ACTOR, slug, { isLogged: true });
    created.push({ slug, projectId, token });
  }
  await db.close();
  return created;
}

function oneUp(targets: readonly Target[]): Target {
  const up = targets.filter(({ isUp }) => isUp);
  return (up.length > 0 ? up : targets)[Math.floor(Math.random() * (up.length || targets.length))] as Target;
}
