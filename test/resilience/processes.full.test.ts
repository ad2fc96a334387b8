import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { expect, test } from '@jest/globals';
import { anyDatabase, createTestDatabase, sharedDatabase, type TestDatabase } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { createTenant, type GatewayProcess, startGateway } from '../support/gateway-process.js';
import { rest } from '../support/http/client.js';
import { countedLimiter } from '../support/limiter/shared-limiter.js';
import { freePort } from '../support/servers/daemon.js';
import { startRedis } from '../support/servers/redis.js';
import { type Habit, ToyLoad } from '../support/toy-load.js';

// Each promise that needs processes has one test here; the full tier tests them under load and faults.

/** Starts a process for each of the settings, and ends them after the work. */
async function withGateways(
  database: TestDatabase,
  settings: readonly Record<string, string>[],
  work: (gateways: GatewayProcess[]) => Promise<void>,
): Promise<void> {
  const gateways: GatewayProcess[] = [];
  try {
    for (const env of settings) {
      gateways.push(await startGateway({ env: { DATABASE_URL: database.url, ...env } }));
    }
    await work(gateways);
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.kill('SIGKILL')));
    await database.remove();
  }
}

test('Process-1: a process creates its schema and serves, and after SIGTERM answers what is in flight and ends with 0', async () => {
  const database = await createTestDatabase(anyDatabase());
  await withGateways(database, [{ SHUTDOWN_SECONDS: '4' }], async ([gateway]) => {
    const { url, kill, ended, faults } = gateway as GatewayProcess;
    const token = await createTenant(database.url);
    expect((await rest(url, '/v1/toys', { token })).body).toEqual([]);

    const body = '{"name":"Late","categoryId":1}';
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': body.length,
      expect: '100-continue',
    };
    const inFlight = request(`${url}/v1/toys`, { method: 'POST', headers });
    inFlight.flushHeaders();
    await once(inFlight, 'continue');
    await kill('SIGTERM');
    await eventually('unready', async () => (await fetch(`${url}/readyz`)).status === 503);
    inFlight.end(body);
    const [answer] = (await once(inFlight, 'response')) as [IncomingMessage];
    expect([answer.statusCode, answer.headers.connection]).toEqual([201, 'close']);
    answer.resume();
    expect(await ended).toEqual({ code: 0, signal: null });
    expect(faults()).toEqual([]);
  });
});

test('Process-2: every acknowledged toy survives kill -9, and no Idempotency-Key makes two', async () => {
  const database = await createTestDatabase(anyDatabase());
  const env = { PORT: String(await freePort()) };
  await withGateways(database, [env], async (gateways) => {
    const [{ url, kill }] = gateways as [GatewayProcess];
    const habits: Habit[] = ['create', 'create with key', 'create', 'create with key'];
    const load = new ToyLoad(url, await createTenant(database.url), habits);
    try {
      await eventually('toys made', () => load.acknowledged.size >= 40);
      await kill('SIGKILL');
      gateways.push(await startGateway({ env: { DATABASE_URL: database.url, ...env } }));
      const wanted = load.acknowledged.size + 20;
      await eventually('more toys made', () => load.acknowledged.size >= wanted);
      await load.settle();
      expect(load.failures.length).toBeGreaterThan(0);
      expect(await load.findings()).toEqual({ missing: [], duplicate: [] });
    } finally {
      load.abandon();
    }
  });
});

test('Process-3: two processes on Redis admit exactly the plan of a project', async () => {
  const redis = await startRedis();
  const database = await createTestDatabase(sharedDatabase());
  try {
    const limiters = [await countedLimiter(), await countedLimiter()];
    const settings = limiters.map(({ env }) => ({ REDIS_URL: redis.url, ...env }));
    await withGateways(database, settings, async (gateways) => {
      const statuses = await eventually('a round within one minute, with Redis', async () => {
        const token = await createTenant(database.url, 'FREE');
        const minute = () => Math.floor(Date.now() / 60_000);
        const began = minute();
        const counts = async () => JSON.stringify(await Promise.all(limiters.map(({ read }) => read())));
        const before = await counts();
        const sent = Array.from({ length: 80 }, (_, at) =>
          rest((gateways[at % 2] as GatewayProcess).url, '/v1/toys', { token }),
        );
        const answered = (await Promise.all(sent)).map(({ status }) => status);
        return minute() === began && (await counts()) === before && answered;
      });
      const count = (status: number) => statuses.filter((one) => one === status).length;
      expect({ admitted: count(200), refused: count(429) }).toEqual({ admitted: 60, refused: 20 });
    });
  } finally {
    await redis.stop();
  }
});
