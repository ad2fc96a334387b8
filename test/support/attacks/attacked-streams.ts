import { expect } from '@jest/globals';
import type { Plan } from '../../../src/tenants/projects/plans.js';
import { eventually } from '../eventually.js';
import { createTenant } from '../gateway-process.js';
import { slowness } from '../own-time.js';
import { freePort } from '../servers/daemon.js';
import { type AttackedGateway, startAttackedGateway } from './attacked-gateway.js';
import { RawClient } from './raw-client.js';
import { openRawStream } from './raw-streams.js';

const MOST_P99_MS = 250;
/** 50 ms each. The p99 of fewer than a hundred is the slowest of them. */
const READS = 40;

/** A gateway whose streams are attacked. */
export interface AttackedStreams extends AttackedGateway {
  /** A key of a new project with a change log. */
  newKey(plan?: Plan): Promise<string>;
  open(bytes: string): Promise<RawClient>;
  /** A client that never reads. */
  openUnread(bytes: string): RawClient;
  /** Closes what this opened, so that a failed test leaves nothing to the next. */
  leaveAll(): Promise<void>;
  /** How many streams the process has open. */
  openStreams(): Promise<number>;
  noneIsOpen(): Promise<unknown>;
  /** Runs the attack. The neighbour must be served; returns the megabytes that the attack took at most, and since. */
  attack(work: () => Promise<unknown>): Promise<{ mostMb: number; keptMb: number }>;
}

export async function startAttackedStreams(env: Record<string, string> = {}): Promise<AttackedStreams> {
  const metricsPort = await freePort();
  const attacked = await startAttackedGateway({ env: { METRICS_PORT: String(metricsPort), ...env } });
  const { gateway, neighbour, memoryMb, databaseUrl } = attacked;
  const openStreams = async () => {
    const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    return Number(/^petstore_open_streams (\d+)$/m.exec(text)?.[1]);
  };
  const noneIsOpen = () => eventually('no open stream', async () => (await openStreams()) === 0);
  const clients: RawClient[] = [];
  const kept = (client: RawClient) => {
    clients.push(client);
    return client;
  };
  return {
    ...attacked,
    newKey: (plan = 'ENTERPRISE') => createTenant(databaseUrl, plan, { isLogged: true }),
    open: async (bytes) => kept(await openRawStream(gateway.port, bytes)),
    openUnread: (bytes) => kept(new RawClient({ port: gateway.port, reads: false }).send(bytes)),
    async leaveAll() {
      for (const client of clients.splice(0)) client.leave();
      await noneIsOpen();
    },
    openStreams,
    noneIsOpen,
    async attack(work) {
      const [slowBefore, beforeMb] = [await slowness(), await memoryMb()];
      let mostMb = beforeMb;
      const sampling = setInterval(async () => {
        mostMb = Math.max(mostMb, await memoryMb());
      }, 100);
      neighbour.startOver();
      try {
        await work();
        await eventually('the neighbour has read', () => neighbour.readCount >= READS);
      } finally {
        clearInterval(sampling);
      }
      const p99Ms = neighbour.p99Ms();
      const [slowAfter, keptMb] = [await slowness(), (await memoryMb()) - beforeMb];
      expect([neighbour.failures(), gateway.faults()]).toEqual([[], []]);
      expect(p99Ms).toBeLessThan(MOST_P99_MS * Math.max(slowBefore, slowAfter));
      return { mostMb: mostMb - beforeMb, keptMb };
    },
  };
}
