import { expect, test } from '@jest/globals';
import { createTestDatabase, databaseKinds } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { createTenant, startGateway } from '../support/gateway-process.js';
import { freePort } from '../support/servers/daemon.js';
import { type Habit, ToyLoad } from '../support/toy-load.js';

/** Patience with a busy machine; not a promised time. */
const LONGEST_MS = 180_000;
const KILLS = 5;
const HABITS: Habit[] = Array.from({ length: 16 }, (_, index) => (index % 2 ? 'create' : 'create with key'));
const ACKNOWLEDGED_BETWEEN_KILLS = 150;

test.concurrent.each(databaseKinds())(
  'Reliability-1: every acknowledged toy survives kill -9 of the gateway, and no Idempotency-Key makes two, on %s',
  async (kind) => {
    const database = await createTestDatabase(kind);
    // Not one of the system's own: a client that tries again and again to connect to such a port connects to itself.
    const env = { DATABASE_URL: database.url, PORT: String(await freePort()) };
    let gateway = await startGateway({ env });
    const { url } = gateway;
    const load = new ToyLoad(url, await createTenant(database.url), HABITS);
    try {
      for (let kills = 0; kills < KILLS; kills += 1) {
        const wanted = load.acknowledged.size + ACKNOWLEDGED_BETWEEN_KILLS;
        await eventually('toys made', () => load.acknowledged.size >= wanted);
        await gateway.kill('SIGKILL');
        gateway = await startGateway({ env });
      }
      await load.settle();

      expect(load.failures.length).toBeGreaterThanOrEqual(KILLS);
      expect(await load.findings()).toEqual({ missing: [], duplicate: [] });
      // `conflict` is the answer until the lock of the dead process expires.
      expect(load.answers.filter(({ code }) => code !== null && code !== 'conflict')).toEqual([]);
      expect(gateway.faults()).toEqual([]);
    } finally {
      load.abandon();
      await gateway.kill('SIGKILL');
      await database.remove();
    }
  },
  LONGEST_MS,
);
