import { readdir, readFile } from 'node:fs/promises';
import { createTestDatabase, type DatabaseKind } from '../databases.js';
import { createTenant, type GatewayProcess, startGateway } from '../gateway-process.js';
import { Neighbour } from './neighbour.js';

const HEAP_MB = 512;
/**
 * Half of the space for new objects, with the size of Node 20. Node 24 lets the empty space grow from 32 to 128 MB under
 * any load, and keeps that size. The test could not tell it from memory that the gateway holds.
 */
const SEMI_SPACE_MB = 16;
const MAX_DESCRIPTORS = 1_024;

/** A built gateway with little memory and few descriptors, its attacker's token, and a neighbour it must serve. */
export interface AttackedGateway {
  gateway: GatewayProcess;
  databaseUrl: string;
  /** A key of the attacker's own project, with all scopes and a quota that no attack spends. */
  attackerToken: string;
  /** A client of another project that reads once per 50 ms. */
  neighbour: Neighbour;
  /** Megabytes of physical memory that the process occupies now. */
  memoryMb(): Promise<number>;
  /** Milliseconds of processor time that the process has used, in steps of 10. */
  processorMs(): Promise<number>;
  /** Descriptors that the process has open now. */
  descriptors(): Promise<number>;
  stop(): Promise<void>;
}

interface AttackOptions {
  kind?: DatabaseKind;
  env?: Record<string, string>;
}

/** Starts the gateway of an attack test. Linux only: reads `/proc`. */
export async function startAttackedGateway({
  kind = 'sqlite',
  env = {},
}: AttackOptions = {}): Promise<AttackedGateway> {
  const database = await createTestDatabase(kind);
  const gateway = await startGateway({
    env: { DATABASE_URL: database.url, ...env },
    nodeArgs: [`--max-old-space-size=${HEAP_MB}`, `--max-semi-space-size=${SEMI_SPACE_MB}`],
    maxDescriptors: MAX_DESCRIPTORS,
  });
  const attackerToken = await createTenant(database.url);
  const neighbour = new Neighbour(gateway.url, await createTenant(database.url));
  return {
    gateway,
    databaseUrl: database.url,
    attackerToken,
    neighbour,
    memoryMb: () => residentMb(gateway.processId),
    processorMs: () => processorMs(gateway.processId),
    descriptors: () => openDescriptors(gateway.processId),
    async stop() {
      neighbour.leave();
      await gateway.kill('SIGKILL');
      await database.remove();
    },
  };
}

async function residentMb(processId: number): Promise<number> {
  const status = await readFile(`/proc/${processId}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}

/** Fields 14 and 15 of `/proc/<pid>/stat`, counted after the name, which may contain spaces. A tick is 10 ms. */
async function processorMs(processId: number): Promise<number> {
  const stat = await readFile(`/proc/${processId}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

async function openDescriptors(processId: number): Promise<number> {
  return (await readdir(`/proc/${processId}/fd`)).length;
}
