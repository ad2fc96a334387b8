import { copyFile, mkdtemp, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import libsql from 'libsql';
import { Database } from '../../src/ground/database/database.js';
import { unavailableIfDatabaseAway } from '../../src/ground/database/database-errors.js';
import { Durability } from '../../src/ground/database/durability.js';
import { SqliteDriver } from '../../src/ground/database/sqlite/sqlite-driver.js';
import { examineSqliteFile } from '../../src/ground/database/sqlite/sqlite-file.js';
import { migrate } from '../../src/ground/migrating/migrate.js';
import { petstore } from '../support/command-line.js';
import { eventually } from '../support/eventually.js';
import { DATABASE_SCHEMA } from '../support/gateway/tested-gateway.js';
import { Toy } from '../support/nouns/toys.js';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'petstore-test-'));
  path = join(folder, 'faults.sqlite');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const LARGE = 'x'.repeat(100_000);
/** SQLite answers a write that needs more pages with SQLITE_FULL, as on a full disk. */
const fill = (driver: SqliteDriver) => driver.pragma('max_page_count = 1');
const free = (driver: SqliteDriver) => driver.pragma('max_page_count = 1000000');

function open(at = path): SqliteDriver {
  const driver = new SqliteDriver(at, { timeout: 5 });
  driver.pragma('journal_mode = WAL');
  driver.exec('CREATE TABLE IF NOT EXISTS a (x)');
  return driver;
}

/** As another program sees them. */
function stored(): unknown[] {
  const other = new libsql(path);
  const rows = other.prepare('SELECT x FROM a ORDER BY rowid').all() as { x: unknown }[];
  other.close();
  return rows.map(({ x }) => x);
}

const begin = (driver: SqliteDriver) => driver.prepare('BEGIN TRANSACTION').run();
const rollback = (driver: SqliteDriver) => driver.prepare('ROLLBACK').run();
const insert = (driver: SqliteDriver, x: unknown) => driver.prepare('INSERT INTO a VALUES (?)').run(x);

test('SQLite-5: after a full disk the next acknowledged write is committed, also by a statement from before', () => {
  const driver = open();
  const prepared = driver.prepare('INSERT INTO a VALUES (?)');
  fill(driver);
  expect(() => prepared.run(LARGE)).toThrow(expect.objectContaining({ code: 'SQLITE_FULL', fatal: true }));
  free(driver);
  prepared.run(1);
  expect(driver.inTransaction).toBe(false);
  expect(stored()).toEqual([1]);
  driver.close();
});

test('SQLite-6: a transaction that met a full disk stores nothing, and its other statements throw until it ends', () => {
  const driver = open();
  begin(driver);
  insert(driver, 1);
  driver.prepare('SAVEPOINT inner').run();
  fill(driver);
  expect(() => insert(driver, LARGE)).toThrow('full');
  const later = [
    'INSERT INTO a VALUES (2)',
    'SELECT * FROM a',
    'RELEASE inner',
    'COMMIT',
    'BEGIN TRANSACTION',
  ];
  for (const sql of later) expect(() => driver.prepare(sql).run()).toThrow('full');
  driver.prepare('ROLLBACK TO inner').run();
  expect(() => insert(driver, 3)).toThrow('full');
  rollback(driver);
  free(driver);
  begin(driver);
  insert(driver, 4);
  driver.prepare('COMMIT').run();
  expect(stored()).toEqual([4]);
  driver.close();
});

test('SQLite-7: a new connection has the settings of the broken one, and exact integers', () => {
  const driver = open();
  driver.pragma('foreign_keys = OFF');
  driver.pragma('busy_timeout = 7');
  insert(driver, 2n ** 62n);
  fill(driver);
  expect(() => insert(driver, LARGE)).toThrow('full');
  expect(driver.pragma('foreign_keys')).toEqual([expect.objectContaining({ foreign_keys: 0 })]);
  expect(driver.pragma('busy_timeout')).toEqual([expect.objectContaining({ timeout: 7 })]);
  expect(driver.prepare('SELECT x FROM a').all()).toEqual([expect.objectContaining({ x: 2n ** 62n })]);
  driver.close();
});

test('SQLite-8: a database in memory keeps its rows after a fault', () => {
  const driver = open(':memory:');
  insert(driver, 1);
  fill(driver);
  begin(driver);
  expect(() => insert(driver, LARGE)).toThrow('full');
  rollback(driver);
  free(driver);
  insert(driver, 2);
  expect(driver.prepare('SELECT COUNT(*) AS rows FROM a').all()).toMatchObject([{ rows: 2n }]);
  driver.close();
});

test('SQLite-9: a statement that is wrong itself breaks neither its transaction nor the connection', () => {
  const driver = open();
  driver.exec('CREATE UNIQUE INDEX one ON a (x)');
  begin(driver);
  insert(driver, 1);
  expect(() => insert(driver, 1)).toThrow('UNIQUE');
  expect(() => driver.prepare('SELECT * FROM nowhere')).toThrow('no such table');
  insert(driver, 2);
  driver.prepare('COMMIT').run();
  expect(stored()).toEqual([1, 2]);
  driver.close();
});

test('SQLite-10: a write and a probe throw once the file was moved or replaced', async () => {
  const driver = open();
  driver.probe('INSERT INTO a VALUES (1)');
  const prepared = driver.prepare('INSERT INTO a VALUES (2)');
  await rename(path, `${path}-moved`);
  // With a `-wal` SQLite itself would store it in the moved file.
  expect(() => prepared.run()).toThrow('moved, deleted or replaced');
  expect(() => driver.probe('INSERT INTO a VALUES (2)')).toThrow('moved, deleted or replaced');
  await copyFile(`${path}-moved`, path);
  expect(() => begin(driver)).toThrow('moved, deleted or replaced');
  expect(() => driver.probe('INSERT INTO a VALUES (2)')).toThrow('moved, deleted or replaced');
  driver.close();
});

test('SQLite-11: after a full disk transactions are committed, readiness says why not, and trusts only a stored probe', async () => {
  const target = { kind: 'sqlite', path } as const;
  await migrate(target, DATABASE_SCHEMA);
  const db = await Database.open(target, DATABASE_SCHEMA);
  const manager = db.repository(Toy).manager;
  const create = (id: bigint, name = 'Rex') =>
    db.transaction((own) =>
      own.insert(Toy, { projectId: 1n, id, name, categoryId: 1n, status: null, createdAtMs: 1 }),
    );
  const count = (from: { query(sql: string): unknown }) => from.query('SELECT COUNT(*) AS toys FROM toys');
  try {
    await create(1n);
    expect(await db.problem()).toBeNull();
    await manager.query('PRAGMA max_page_count = 1');
    const refusals = [];
    for (const id of [2n, 3n, 4n]) refusals.push(await create(id, LARGE).catch((error) => error));
    expect(refusals.map((error) => unavailableIfDatabaseAway(error)?.code)).toEqual(
      Array(3).fill('unavailable'),
    );
    const hasSpace = () => manager.query('PRAGMA max_page_count = 1000000').then(Boolean, () => false);
    await eventually('opened again', hasSpace);
    await eventually('ready again', async () => (await db.problem()) === null);
    await create(5n);
    expect(await count(manager)).toMatchObject([{ toys: 2n }]);
    const other = new libsql(path);
    expect(other.prepare('SELECT COUNT(*) AS toys FROM toys').all()).toMatchObject([{ toys: 2 }]);
    other.close();
  } finally {
    await db.close();
  }
});

test('SQLite-15: a probe without an answer is a reason not to be ready', async () => {
  const silent = Object.assign(new Error('no answer'), { isUnanswered: true });
  const durability = new Durability(() => Promise.reject(silent), false);
  const full = Object.assign(new Error('full'), { code: 'ER_DISK_FULL' });
  await expect(durability.watch(() => Promise.reject(full))).rejects.toThrow('full');
  expect(await durability.problem()).toBe('it does not answer to a write');
});

test('SQLite-12: after a close the one file has all data, also while another program has it open', async () => {
  const driver = open();
  const other = open();
  insert(driver, 1);
  other.prepare('SELECT * FROM a').all();
  driver.close();
  const copy = join(folder, 'copy.sqlite');
  await copyFile(path, copy);
  other.close();
  const copied = new libsql(copy);
  expect(copied.prepare('SELECT x FROM a').all()).toMatchObject([{ x: 1 }]);
  copied.close();
});

/** The files of a database that is in use, as a copy or a crash leaves them. */
async function usedFile(): Promise<{ file: string; wal: string }> {
  const driver = open();
  driver.markInUse();
  insert(driver, 1);
  const file = join(folder, 'used.sqlite');
  await writeFile(file, await readFile(path));
  await writeFile(`${file}-wal`, await readFile(`${path}-wal`));
  driver.close();
  return { file, wal: `${file}-wal` };
}

test('SQLite-13: a file without the -wal of its crash or copy is told in one line, and no other file', async () => {
  const { file, wal } = await usedFile();
  expect(examineSqliteFile(file)).toBeNull();
  await rename(wal, join(folder, 'away'));
  expect(examineSqliteFile(file)).toMatch(/^\S+used\.sqlite-wal is missing\. [^\n]+$/);
  const { code, stderr } = await petstore(['migrate'], { databaseUrl: `sqlite:${file}` });
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/-wal is missing/) });
  // Closed: the first driver is not in use any more.
  await copyFile(path, join(folder, 'closed.sqlite'));
  expect(examineSqliteFile(join(folder, 'closed.sqlite'))).toBeNull();
});

test('SQLite-14: a -wal whose file is missing, empty or a backup is refused, and stays as it is', async () => {
  const { file, wal } = await usedFile();
  const kept = await readFile(wal);
  const driver = open();
  driver.exec(`VACUUM INTO '${join(folder, 'backup.sqlite')}'`);
  driver.close();
  const refusal = async () => {
    const { code, stderr } = await petstore(['projects', 'list'], { databaseUrl: `sqlite:${file}` });
    expect(code).toBe(1);
    expect(await readFile(wal)).toEqual(kept);
    return stderr;
  };
  await truncate(file);
  expect(await refusal()).toMatch(/missing or empty\. Put that file back, or move the -wal/);
  await rm(file);
  expect(await refusal()).toMatch(/missing or empty/);
  await rename(join(folder, 'backup.sqlite'), file);
  expect(await refusal()).toMatch(/which is a backup\. Move the -wal and the -shm away/);
});
