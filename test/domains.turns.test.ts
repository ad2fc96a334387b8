import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { createConnection } from 'mysql2/promise';
import { Turns } from '../src/database/turns.js';
import { rest } from './support/client.js';
import { databaseKinds } from './support/databases.js';
import { ownerOf, publishedTenant, startDomainRig } from './support/domain-rig.js';
import { eventually } from './support/eventually.js';

const AT_ONCE = 20;
const HELD_MS = 1_000;
/** InnoDB shows the same picture again to whoever looks within 100 ms. */
const REFRESHED_MS = 150;
const WAITING = "SELECT 1 FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'";

describe('turns', () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  test('Turns-1: so many run at once, the others in their order, and a failure ends its turn', async () => {
    const turns = new Turns(2);
    const begun: number[] = [];
    const ends: (() => void)[] = [];
    const work = (index: number) =>
      turns.take(async () => {
        begun.push(index);
        await new Promise<void>((resolve) => ends.push(resolve));
        if (index === 0) throw new Error('undone');
        return index;
      });
    const all = Promise.allSettled([0, 1, 2, 3, 4].map(work));
    expect(begun).toEqual([0, 1]);
    for (let ended = 0; ended < 5; ended += 1) {
      await eventually('the next turn', () => ends[ended] !== undefined);
      expect(begun.length).toBeLessThanOrEqual(ended + 2);
      ends[ended]?.();
    }
    const outcomes = await all;
    expect(begun).toEqual([0, 1, 2, 3, 4]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', ...Array(4).fill('fulfilled')]);
  });

  test('Turns-2: whose turn does not come in 4 s is refused as without a connection, and holds up nobody', async () => {
    jest.useFakeTimers();
    const turns = new Turns(1);
    let end = () => {};
    const first = turns.take(() => new Promise<void>((resolve) => (end = resolve)));
    const late = expect(turns.take(async () => 'late')).rejects.toMatchObject({ code: 'POOL_TIMEOUT' });
    await jest.advanceTimersByTimeAsync(4_000);
    await late;
    const next = turns.take(async () => 'next');
    end();
    await first;
    expect(await next).toBe('next');
    expect(await turns.take(async () => 'free')).toBe('free');
  });
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
      await rest(rig.url, '/v1/pets', { token });
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
        expect((await rest(rig.url, '/v1/pets/1', { token })).status).toBe(404);
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
