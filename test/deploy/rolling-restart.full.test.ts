import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { createTestDatabase, databaseKinds } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { createTenant, type GatewayProcess, startGateway } from '../support/gateway-process.js';
import { freePort } from '../support/servers/daemon.js';
import { startProxy } from '../support/servers/haproxy.js';
import { startRedis } from '../support/servers/redis.js';
import { type Habit, ToyLoad } from '../support/toy-load.js';

const PROCESSES = Number(process.env.ROLLING_PROCESSES ?? 2);
const REQUESTS = Number(process.env.ROLLING_REQUESTS ?? 4_000);
/** The folder of another release, built: its processes are the ones that are replaced. */
const PREVIOUS_RELEASE = process.env.PREVIOUS_RELEASE;
const HABITS = Array.from({ length: 24 }, (_, index): Habit => {
  if (index % 8 === 0) return 'create';
  if (index % 8 === 1) return 'create by both doors with key';
  return index % 2 ? 'read by GraphQL' : 'read';
});
const SHUTDOWN_SECONDS = '6';

/**
 * Starts processes of the previous release on all ports but the first. `replaceAll` starts one of this release before each
 * of them ends.
 */
async function startProcesses(ports: readonly number[], databaseUrl: string, redisUrl: string | null) {
  const start = (port: number, main?: string) =>
    startGateway({
      env: {
        DATABASE_URL: databaseUrl,
        ...(redisUrl ? { REDIS_URL: redisUrl } : {}),
        PORT: String(port),
        SHUTDOWN_SECONDS,
        TRUSTED_PROXIES: '127.0.0.1',
        DEMO: '0',
      },
      ...(main ? { main } : {}),
    });
  const previous = PREVIOUS_RELEASE && join(PREVIOUS_RELEASE, 'dist/test/support/gateway/main.js');
  const [spare = 0, ...used] = ports;
  const running: GatewayProcess[] = [];
  for (const port of used) running.push(await start(port, previous));
  const replaceAll = async () => {
    let free = spare;
    for (const old of running.slice(0, PROCESSES)) {
      running.push(await start(free));
      await old.kill('SIGTERM');
      expect(await old.ended).toEqual({ code: 0, signal: null });
      free = old.port;
    }
  };
  const faults = () => running.flatMap((gateway) => gateway.faults());
  const stop = () => Promise.all(running.map((gateway) => gateway.kill('SIGKILL')));
  return { replaceAll, faults, stop };
}

// On SQLite the new process serves beside the old one for a few seconds; the two count quotas separately then.
test.each(databaseKinds())(
  'Deploy-1: processes on %s are replaced one by one behind the proxy, and no request fails or is lost',
  async (kind) => {
    const stops: (() => Promise<unknown>)[] = [];
    try {
      const database = await createTestDatabase(kind);
      stops.push(() => database.remove());
      const redis = kind === 'sqlite' ? null : await startRedis();
      stops.push(async () => redis?.stop());
      const ports = await Promise.all(Array.from({ length: PROCESSES + 1 }, freePort));
      const proxy = await startProxy(ports);
      stops.push(() => proxy.stop());
      const processes = await startProcesses(ports, database.url, redis?.url ?? null);
      stops.push(() => processes.stop());
      const token = await createTenant(database.url);
      await eventually('served', async () => (await fetch(`${proxy.url}/readyz`)).ok);
      const load = new ToyLoad(proxy.url, token, HABITS);
      stops.push(async () => load.abandon());
      await eventually('all clients at work', () => load.answers.length >= REQUESTS / 10, 120_000);
      await processes.replaceAll();
      // Most of them came while the processes were replaced; the last ones show that the new processes serve.
      const wanted = Math.max(REQUESTS, load.answers.length + REQUESTS / 10);
      await eventually('all requests', () => load.answers.length >= wanted, 3_000_000);
      await load.settle();

      expect(load.failures).toEqual([]);
      expect(load.answers.filter(({ code }) => code !== null)).toEqual([]);
      expect(await load.findings()).toEqual({ missing: [], duplicate: [] });
      expect(processes.faults()).toEqual([]);
    } finally {
      for (const stop of stops.reverse()) await stop();
    }
  },
  3_600_000,
);
