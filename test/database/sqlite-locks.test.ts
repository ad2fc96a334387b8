import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { SqliteDriver } from '../../src/ground/database/sqlite/sqlite-driver.js';

let folder: string;
let mine: SqliteDriver;
let other: SqliteDriver;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'petstore-test-'));
  const open = () => new SqliteDriver(join(folder, 'locks.sqlite'), { timeout: 5 });
  mine = open();
  other = open();
  mine.exec('PRAGMA journal_mode = WAL; CREATE TABLE a (id); CREATE TABLE b (id)');
});
afterEach(async () => {
  mine.close();
  other.close();
  await rm(folder, { recursive: true, force: true });
});

const stored = (table: string) =>
  Number((other.prepare(`SELECT COUNT(*) AS rows FROM ${table}`).all()[0] as { rows: bigint }).rows);

/** Returns a prepared write of `mine` that was refused once, because `other` held the lock. */
function refusedWrite() {
  const insert = mine.prepare('INSERT INTO a VALUES (?)');
  other.exec('BEGIN IMMEDIATE');
  expect(() => insert.run(1)).toThrow('locked');
  other.exec('COMMIT');
  return insert;
}

test('SQLite-1: after a write was refused for a lock, the next acknowledged write is committed', () => {
  const insert = refusedWrite();
  mine.prepare('INSERT INTO b VALUES (?)').run(1);
  expect(stored('b')).toBe(1);
  // The lock is free again.
  other.prepare('INSERT INTO b VALUES (?)').run(2);
  insert.run(2);
  expect([stored('a'), stored('b')]).toEqual([1, 2]);
});

test('SQLite-2: after a write was refused for a lock, reads see what others wrote since', () => {
  const insert = refusedWrite();
  mine.prepare('SELECT COUNT(*) FROM a').all()[0];
  other.prepare('INSERT INTO b VALUES (?)').run(1);
  expect(mine.prepare('SELECT COUNT(*) AS rows FROM b').all()[0]).toMatchObject({ rows: 1n });
  mine.prepare('INSERT INTO b VALUES (?)').run(2);
  insert.run(1);
  expect([stored('a'), stored('b')]).toEqual([1, 2]);
});

test('SQLite-3: a transaction that reads first holds the lock, and can write afterwards', () => {
  mine.prepare('BEGIN TRANSACTION').run();
  mine.prepare('SELECT COUNT(*) FROM a').all()[0];
  expect(() => other.prepare('INSERT INTO a VALUES (?)').run(1)).toThrow('locked');
  mine.prepare('INSERT INTO a VALUES (?)').run(2);
  mine.prepare('COMMIT').run();
  other.prepare('INSERT INTO a VALUES (?)').run(1);
  expect(stored('a')).toBe(2);
});

test('SQLite-4: a write that fails for another reason leaves no transaction open', () => {
  mine.exec('CREATE UNIQUE INDEX one ON a (id)');
  const insert = mine.prepare('INSERT INTO a VALUES (?)');
  insert.run(1);
  expect(() => insert.run(1)).toThrow('UNIQUE');
  expect(mine.inTransaction).toBe(false);
  other.prepare('INSERT INTO b VALUES (?)').run(1);
  expect(insert.run(2).changes).toBe(1);
});
