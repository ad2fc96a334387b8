import { readFile } from 'node:fs/promises';
import { expect } from '@jest/globals';
import { loadConfig } from '../../src/ground/config/config.js';
import { Database } from '../../src/ground/database/database.js';
import { createTestDatabase } from '../support/databases.js';
import { DATABASE_SCHEMA } from '../support/gateway/tested-gateway.js';
import { type Fault, startFaultProxy } from '../support/http/fault-proxy.js';
import { testOnMysql as test } from '../support/on-databases.js';
import { inOwnTicks } from '../support/own-time.js';

/** Also the deadline of a new connection, on a machine with other work. */
const DEADLINE_MS = 1_000;

/** Opens one connection through a network that can fail. */
async function behindProxy(
  work: (db: Database, fault: (is: Fault) => Promise<void>, port: number) => Promise<void>,
) {
  const database = await createTestDatabase('mysql');
  const url = new URL(database.url);
  const proxy = await startFaultProxy(Number(url.port));
  url.port = String(proxy.port);
  const target = loadConfig({ DATABASE_URL: url.href }).database;
  const db = await Database.open(target, DATABASE_SCHEMA, { poolSize: 1, queryTimeoutMs: DEADLINE_MS });
  try {
    await work(db, (fault) => proxy.set(fault), proxy.port);
  } finally {
    await db.close();
    await proxy.stop();
    await database.remove();
  }
}

test('Reliability-6: a statement that hangs while it is being prepared times out, and its connection is not used again', () =>
  behindProxy(async (db, fault) => {
    expect(await db.execute('SELECT 1', [])).toHaveLength(1);
    await fault('black hole');
    const { tookMs } = await inOwnTicks(() =>
      expect(db.execute('SELECT 2', [])).rejects.toMatchObject({ code: 'PROTOCOL_SEQUENCE_TIMEOUT' }),
    );
    expect(tookMs).toBeLessThan(3 * DEADLINE_MS);
    await fault('pass');
    expect(await db.execute('SELECT 3', [])).toHaveLength(1);
  }));

test('Database-25: a connection that the server has forgotten keeps no descriptor', () =>
  behindProxy(async (db, fault, port) => {
    expect(await db.execute('SELECT 1', [])).toHaveLength(1);
    expect(await descriptorsTo(port)).toBe(1);
    await fault('half-open');
    await expect(db.execute('SELECT 2', [])).rejects.toMatchObject({ code: 'PROTOCOL_SEQUENCE_TIMEOUT' });
    expect(await descriptorsTo(port)).toBe(0);
  }));

/** Sockets to the port that a process has open; the kernel keeps closed ones for a while, without an inode. */
async function descriptorsTo(port: number): Promise<number> {
  const lines = (await readFile('/proc/self/net/tcp', 'utf8')).split('\n').slice(1, -1);
  const fields = lines.map((line) => line.trim().split(/\s+/));
  return fields.filter(
    ([, , remote = '', , , , , , , inode]) => Number.parseInt(remote.slice(9), 16) === port && inode !== '0',
  ).length;
}

test('Database-7: 64-bit integers are exact as parameters and as results of prepared statements', () =>
  behindProxy(async (db) => {
    for (const value of [9_007_199_254_740_993n, 2n ** 63n - 1n, -(2n ** 63n)]) {
      await db.execute('CREATE TEMPORARY TABLE digits (value BIGINT PRIMARY KEY)', []);
      await db.execute('INSERT INTO digits VALUES (?)', [value]);
      const found = 'SELECT CAST(value AS CHAR) AS value FROM digits WHERE value = ? AND value >= ?';
      expect(await db.execute(found, [value, value])).toEqual([{ value: String(value) }]);
      expect(await db.execute(found, [value - 1n < -(2n ** 63n) ? value + 1n : value - 1n, value])).toEqual(
        [],
      );
      await db.execute('DROP TEMPORARY TABLE digits', []);
    }
  }));

test('Database-20: the load of the pool counts used and idle connections, and waiting statements', () =>
  behindProxy(async (db) => {
    await db.execute('SELECT 1', []);
    expect(db.poolLoad).toEqual({ used: 0, idle: 1, waiting: 0, max: 1 });
    const running = [1, 2, 3].map(() => db.execute('SELECT SLEEP(0.1)', []));
    expect(db.poolLoad).toEqual({ used: 1, idle: 0, waiting: 2, max: 1 });
    await Promise.all(running);
    expect(db.poolLoad).toEqual({ used: 0, idle: 1, waiting: 0, max: 1 });
  }));
