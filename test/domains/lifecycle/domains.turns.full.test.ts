import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, jest, test } from '@jest/globals';
import { createConnection } from 'mysql2/promise';
import { DomainStore } from '../../../src/domains/store/domain.store.js';
import { loadConfig } from '../../../src/ground/config/config.js';
import { Database } from '../../../src/ground/database/database.js';
import { IdGenerator } from '../../../src/ground/kernel/ids.js';
import { databaseKinds } from '../../support/databases.js';
import { ownerOf, publishedTenant, startDomainRig } from '../../support/domains/domain-rig.js';
import { eventually } from '../../support/eventually.js';
import { DATABASE_SCHEMA } from '../../support/gateway/tested-gateway.js';
import { rest } from '../../support/http/client.js';

const AT_ONCE = 20;
const HELD_MS = 1_000;
/** InnoDB caches this table for 100 ms; a later query gets new rows. */
const REFRESHED_MS = 150;
/** Of this test's database: other files use the same server. */
const WAITING = `SELECT 1 FROM information_schema.innodb_trx
  JOIN information_schema.processlist ON id = trx_mysql_thread_id
  WHERE trx_state = 'LOCK WAIT' AND db = DATABASE()`;

afterEach(() => {
  jest.useRealTimers();
});

test('Turns-2: a transaction that waits 4 s for its turn is refused like a missing connection, and does not block later ones', async () => {
  const db = await Database.open(loadConfig({ DATABASE_URL: 'sqlite::memory:' }).database, DATABASE_SCHEMA);
  const now = () => Date.now();
  const ids = new IdGenerator(now);
  const store = new DomainStore(db, ids, { onEvent() {}, onChange() {}, async syncHosts() {} }, now);
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] });
  try {
    let end = () => {};
    const ended = new Promise<void>((resolve) => (end = resolve));
    // As many as run at once.
    const first = [store.transaction(() => ended), store.transaction(() => ended)];
    const late = expect(store.transaction(async () => 'late')).rejects.toMatchObject({
      code: 'POOL_TIMEOUT',
    });
    await jest.advanceTimersByTimeAsync(4_000);
    await late;
    const next = store.transaction(async () => 'next');
    end();
    await Promise.all(first);
    expect(await next).toBe('next');
    expect(await store.transaction(async () => 'free')).toBe('free');
  } finally {
    await db.close();
  }
});

const SERVERS = databaseKinds().filter((kind) => kind !== 'sqlite');

for (const kind of SERVERS) {
  test(`Turns-3: ${AT_ONCE} owners who wait for the change number leave connections for reads, on ${kind}`, async () => {
    const rig = await startDomainRig(kind);
    const { database } = rig.config;
    if (database.kind === 'sqlite') throw new Error('not a server');
    const locking = await createConnection(database.url.replace(/^\w+:/, 'mysql:'));
    try {
      const { token } = await publishedTenant(rig);
      await rest(rig.url, '/v1/toys', { token });
      const owner = ownerOf(rig, { token });
      const waiting = async () => {
        const [rows] = await locking.query(WAITING);
        return (rows as unknown[]).length;
      };
      await locking.query('BEGIN');
      await locking.query("SELECT value FROM change_sequences WHERE name = 'hosts' FOR UPDATE");
      const names = Array.from({ length: AT_ONCE }, (_, index) => `shop${index}.customer.test`);
      const added = Promise.allSettled(names.map((name) => owner.add(name)));
      await eventually('a transaction that waits', async () => (await waiting()) > 0, 20_000, REFRESHED_MS);
      const startedAt = performance.now();
      do {
        expect((await rest(rig.url, '/v1/toys/1', { token })).status).toBe(404);
        await pause(REFRESHED_MS);
        expect(await waiting()).toBeLessThanOrEqual(2);
      } while (performance.now() - startedAt < HELD_MS);
      await locking.query('ROLLBACK');
      // On a slow machine the lock was held for longer than a statement may take.
      for (const outcome of await added) {
        if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'UNAVAILABLE' });
      }
      await owner.add('later.customer.test');
    } finally {
      locking.destroy();
      await rig.stop();
    }
  });
}
