import { chmod, readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import libsql from 'libsql';
import { QueryFailedError, type QueryRunner } from 'typeorm';
import { type Config, loadConfig } from '../../src/ground/config/config.js';
import { createDataSource } from '../../src/ground/database/data-source.js';
import { Database } from '../../src/ground/database/database.js';
import { unavailableIfDatabaseAway } from '../../src/ground/database/database-errors.js';
import { migrate, revertLastMigration } from '../../src/ground/migrating/migrate.js';
import { MigrationLock } from '../../src/ground/migrating/migration-lock.js';
import { petstore } from '../support/command-line.js';
import { createTestDatabase, databaseKinds, type TestDatabase } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { DATABASE_SCHEMA } from '../support/gateway/tested-gateway.js';
import { graphql, rest } from '../support/http/client.js';
import { Toy } from '../support/nouns/toys.js';
import { startApp } from '../support/start-app.js';

const SCHEMA_WORK = { poolSize: 1, queryTimeoutMs: 60_000 };

describe.each(databaseKinds())('on %s', (kind) => {
  let database: TestDatabase;
  let target: Config['database'];
  beforeEach(async () => {
    database = await createTestDatabase(kind);
    target = loadConfig({ DATABASE_URL: database.url }).database;
  });
  afterEach(() => database.remove());

  async function schemaDrift(): Promise<string[]> {
    const source = await (await createDataSource(target, DATABASE_SCHEMA, SCHEMA_WORK)).initialize();
    try {
      const { upQueries } = await source.driver.createSchemaBuilder().log();
      return upQueries.map(({ query }) => query);
    } finally {
      await source.destroy();
    }
  }

  async function tables(): Promise<string[]> {
    const source = await (await createDataSource(target, DATABASE_SCHEMA, SCHEMA_WORK)).initialize();
    const runner = source.createQueryRunner();
    const names = source.entityMetadatas.map(({ tableName }) => tableName);
    const found = await Promise.all(names.map((name) => runner.hasTable(name)));
    await runner.release();
    await source.destroy();
    return names.filter((_, index) => found[index]);
  }

  test('Database-1: the migrations create exactly the schema of the entities', async () => {
    expect((await migrate(target, DATABASE_SCHEMA)).length).toBeGreaterThan(0);
    expect(await schemaDrift()).toEqual([]);
  });

  test('Database-2: every migration can be reverted and applied again', async () => {
    const applied = await migrate(target, DATABASE_SCHEMA);
    for (const _ of applied) expect(await revertLastMigration(target, DATABASE_SCHEMA)).toBe(true);
    expect(await revertLastMigration(target, DATABASE_SCHEMA)).toBe(false);
    expect(await tables()).toEqual([]);
    expect(await migrate(target, DATABASE_SCHEMA)).toEqual(applied);
    expect(await schemaDrift()).toEqual([]);
  });

  test('Database-3: when several processes migrate at once, each migration is applied by exactly one of them', async () => {
    const all = DATABASE_SCHEMA.migrations.map(({ name }) => name);
    const migrating = Array.from({ length: 4 }, () =>
      petstore(['migrate', '--json'], { databaseUrl: database.url }),
    );
    const runs = await Promise.all(migrating);
    for (const { code, stderr } of runs) expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(runs.flatMap(({ json }) => json.applied).sort()).toEqual([...all].sort());
    expect(await schemaDrift()).toEqual([]);
  });

  test('Database-26: a migration that fails is named, and does not count as applied', async () => {
    class Broken1790000000002 {
      name = 'Broken1790000000002';
      locks = { mysql: null, sqlite: null };
      async up(runner: QueryRunner) {
        await runner.query('INSERT INTO nowhere VALUES (1)');
      }
      async down() {}
    }
    const [initial] = DATABASE_SCHEMA.migrations;
    const broken = {
      ...DATABASE_SCHEMA,
      migrations: [initial as typeof Broken1790000000002, Broken1790000000002],
    };
    for (const _ of [1, 2])
      await expect(migrate(target, broken)).rejects.toThrow(
        /^the migration Broken1790000000002 failed: .*nowhere/,
      );
    expect(await tables()).toContain('projects');
    expect((await migrate(target, DATABASE_SCHEMA)).length).toBe(DATABASE_SCHEMA.migrations.length - 1);
  });

  if (kind === 'sqlite') {
    test('Database-27: a start with nothing to migrate waits for no other writer of the file', async () => {
      await migrate(target, DATABASE_SCHEMA);
      const writer = new libsql(database.url.slice('sqlite:'.length));
      writer.exec('BEGIN IMMEDIATE');
      try {
        expect(await migrate(target, DATABASE_SCHEMA)).toEqual([]);
      } finally {
        writer.close();
      }
    });

    test('Database-28: every new file of the database is private, that of `migrate` too; an old file keeps its mode', async () => {
      const path = database.url.slice('sqlite:'.length);
      const modes = async () => {
        const db = await Database.open(target, DATABASE_SCHEMA);
        await db.write(() => db.repository(Toy).manager.query('DELETE FROM toys'));
        const found: Record<string, string> = {};
        for (const name of await readdir(dirname(path))) {
          const { mode } = await stat(join(dirname(path), name));
          found[name.replace(basename(path), '')] = (mode & 0o777).toString(8);
        }
        await db.close();
        return found;
      };
      expect(await petstore(['migrate', '--json'], { databaseUrl: database.url })).toMatchObject({ code: 0 });
      expect(await modes()).toEqual({ '': '600', '-shm': '600', '-wal': '600' });
      await chmod(path, 0o640);
      expect(await modes()).toMatchObject({ '': '640' });
    });
  }

  if (kind !== 'sqlite') {
    test('Database-23: nothing migrates without the lock, who waits says for whom, and the lock of one database does not stop another', async () => {
      const long = longMigration('Long1770000000001');
      const running = migrate(target, { ...DATABASE_SCHEMA, migrations: [long.Migration] });
      await long.hasBegun;
      const other = await createTestDatabase(kind);
      try {
        const otherTarget = loadConfig({ DATABASE_URL: other.url }).database;
        expect((await migrate(otherTarget, DATABASE_SCHEMA)).length).toBeGreaterThan(0);
        const told: string[] = [];
        const waiting = migrate(target, DATABASE_SCHEMA, { onWait: (sentence) => told.push(sentence) });
        await eventually('a process that waits', () => told.length > 0);
        expect(told).toEqual([
          expect.stringMatching(
            /^Another process migrates the database: .*, process \d+, .*, since \d{4}-.*Z, now Long1770000000001\. /,
          ),
        ]);
        expect(await tables()).toEqual([]);
        long.end();
        expect(await running).toEqual(['Long1770000000001']);
        expect((await waiting).length).toBe(DATABASE_SCHEMA.migrations.length);
      } finally {
        long.end();
        await other.remove();
      }
    });

    test('Database-30: a process that has lost the lock begins no other migration, and goes on when the next holder has ended', async () => {
      const [long, next] = [longMigration('Long1770000000001'), longMigration('Next1770000000002')];
      const migrations = [long.Migration, next.Migration];
      const told: string[] = [];
      const onWait = (sentence: string) => told.push(sentence);
      const running = migrate(target, { ...DATABASE_SCHEMA, migrations }, { onWait });
      await long.hasBegun;
      await onServer("UPDATE migration_lock SET holder = 'another', migration = ''");
      long.end();
      await eventually('it waits', () => told.length > 0);
      expect(told[0]).toMatch(/^Another process migrates the database: another, since .*, now it begins/);
      expect(next.count).toBe(0);
      next.end();
      await onServer('DELETE FROM migration_lock');
      expect(await running).toEqual(['Long1770000000001', 'Next1770000000002']);
      expect([long.count, next.count]).toEqual([1, 1]);
    });

    test('Database-31: the lock of a process that was killed is taken over once its row stands still, by one of those who wait', async () => {
      const source = await (
        await createDataSource(target, DATABASE_SCHEMA, { ...SCHEMA_WORK, poolSize: 4 })
      ).initialize();
      let isWanted = true;
      const isNeeded = async () => isWanted;
      const ends: Promise<unknown>[] = [];
      try {
        const dead = new MigrationLock(source, () => {});
        expect(await dead.take(isNeeded)).toBe(true);
        const told: string[] = [];
        const waiting = [1, 2].map(() => new MigrationLock(source, (sentence) => told.push(sentence), 2_500));
        let holders = 0;
        const taken = waiting.map(async (lock) => {
          await lock.take(isNeeded);
          holders += 1;
          return lock;
        });
        ends.push(...taken);
        // It lives: its row counts on.
        await eventually('both wait', () => told.length === 2);
        const beatOf = async () => Number((await onServer('SELECT beat FROM migration_lock'))[0]?.beat);
        await eventually('beats', async () => (await beatOf()) >= 2);
        expect(holders).toBe(0);
        dead.stop();
        const first = await Promise.race(taken);
        expect([await dead.renew(), await first.renew(), holders]).toEqual([false, true, 1]);
        await first.release();
        for (const lock of await Promise.all(taken)) await lock.release();
        expect(holders).toBe(2);
      } finally {
        isWanted = false;
        await Promise.allSettled(ends);
        await source.destroy();
      }
    });

    test('Database-24: probes at the same time share a statement, and a full queue of this process is no database that is away', async () => {
      await migrate(target, DATABASE_SCHEMA);
      const db = await Database.open(target, DATABASE_SCHEMA, { poolSize: 1 });
      try {
        const first = db.isReady();
        expect(db.isReady()).toBe(first);
        expect(await first).toBe(true);
        const busy = Array.from({ length: 60 }, () => db.execute('SELECT SLEEP(0.02)', []).catch(() => null));
        await eventually('asked again', () => db.isReady() !== first);
        expect(await db.isReady()).toBe(true);
        expect((await Promise.all(busy)).filter((rows) => rows === null).length).toBeGreaterThan(0);
      } finally {
        await db.close();
      }
    });

    /** A migration that runs until `end`. */
    function longMigration(name: string) {
      let begin = () => {};
      let end = () => {};
      const hasBegun = new Promise<void>((resolve) => {
        begin = resolve;
      });
      const mayEnd = new Promise<void>((resolve) => {
        end = resolve;
      });
      const state = { count: 0 };
      const Migration = class {
        name = name;
        locks = { mysql: null, sqlite: null };
        async up() {
          state.count += 1;
          begin();
          await mayEnd;
        }
        async down() {}
      };
      Object.defineProperty(Migration, 'name', { value: name });
      return Object.assign(state, { Migration, hasBegun, end });
    }

    async function onServer(sql: string): Promise<Record<string, unknown>[]> {
      const source = await (await createDataSource(target, DATABASE_SCHEMA, SCHEMA_WORK)).initialize();
      const rows = await source.query(sql);
      await source.destroy();
      return rows;
    }
  }

  test('Database-4: a failed transaction rolls back its own writes and no other writes', async () => {
    await migrate(target, DATABASE_SCHEMA);
    const db = await Database.open(target, DATABASE_SCHEMA);
    const toy = (id: bigint) => ({
      projectId: 1n,
      id,
      name: 'Rex',
      categoryId: 1n,
      status: null,
      createdAtMs: 1,
    });
    try {
      const rounds = Array.from({ length: 10 }, (_, round) => BigInt(round) * 10n);
      const outcomes = await Promise.allSettled(
        rounds.flatMap((base) => [
          db.transaction(async (manager) => {
            await manager.insert(Toy, toy(base + 1n));
            await setImmediate();
            throw new Error('undo');
          }),
          db.write(() => db.repository(Toy).insert(toy(base + 2n))),
          db.transaction(async (manager) => {
            await manager.insert(Toy, toy(base + 3n));
            await setImmediate();
            await manager.insert(Toy, toy(base + 4n));
          }),
        ]),
      );
      expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(10);
      const ids = (await db.repository(Toy).find({ order: { id: 'ASC' } })).map(({ id }) => id);
      expect(ids).toEqual(rounds.flatMap((base) => [base + 2n, base + 3n, base + 4n]));
    } finally {
      await db.close();
    }
  });

  test('Database-5: one query for a list, one for a toy, one for an insert', async () => {
    const queries: string[] = [];
    const app = await startApp({ kind, onQuery: (sql) => queries.push(sql) });
    try {
      const { token } = await app.tenant();
      await rest(app.url, '/v1/toys', { token });
      const body = { name: 'Rex', categoryId: 1 };
      const create = () => rest(app.url, '/v1/toys', { method: 'POST', token, body });
      // The smallest count of three: on a slow machine the gateway's periodic work runs in between.
      const counted = async (ask: () => Promise<unknown>) => {
        const counts: number[] = [];
        for (let round = 0; round < 3; round += 1) {
          // Invalidates what the gateway has cached.
          await create();
          queries.length = 0;
          await ask();
          counts.push(queries.length);
        }
        return Math.min(...counts);
      };
      expect(await counted(create)).toBe(1);
      expect(await counted(() => rest(app.url, '/v1/toys?limit=100&status=sold', { token }))).toBe(1);
      expect(await counted(() => rest(app.url, '/v1/toys/1', { token }))).toBe(1);
      expect(await counted(() => graphql(app.url, '{ toys { nodes { id name } } }', { token }))).toBe(1);
      const mutation = 'mutation { createToy(input: {name: "Rex", categoryId: 1}) { id } }';
      expect(await counted(() => graphql(app.url, mutation, { token }))).toBe(1);
    } finally {
      await app.stop();
    }
  });
});

/** Inserts a million toys by SQL alone; nine of ten are in the project. */

test.each([
  'SQLITE_IOERR_WRITE',
  'SQLITE_IOERR_FSYNC',
  'SQLITE_IOERR',
  'SQLITE_FULL',
  'SQLITE_READONLY_DBMOVED',
  'SQLITE_BUSY_SNAPSHOT',
])('a full, broken or read-only disk (%s) is 503 with Retry-After, not 500', (code) => {
  const driverError = Object.assign(new Error('disk I/O error'), { code });
  const answer = unavailableIfDatabaseAway(new QueryFailedError('INSERT', [], driverError));
  expect(answer).toMatchObject({ code: 'unavailable', retryAfterSeconds: 1 });
});

test.each([
  ['ER_DISK_FULL', 'HY000', true],
  ['ER_LOCK_DEADLOCK', '40001', true],
  ['ER_SERVER_SHUTDOWN', '08S01', true],
  ['ER_QUERY_INTERRUPTED', '70100', true],
  ['ER_USER_LIMIT_REACHED', '42000', true],
  [undefined, '', true],
  ['ER_BAD_FIELD_ERROR', '42S22', false],
  ['ER_DATA_TOO_LONG', '22001', false],
  ['ER_DUP_ENTRY', '23000', false],
  ['ER_SIGNAL_EXCEPTION', '45000', false],
  ['ER_NO_DEFAULT_FOR_FIELD', 'HY000', false],
  ['ER_TRUNCATED_WRONG_VALUE_FOR_FIELD', 'HY000', false],
])('an error of MySQL (%s, SQLSTATE %s) is 503 unless the statement is wrong', (code, sqlState, isAway) => {
  const driverError = Object.assign(new Error('refused'), { code, sqlState });
  const answer = unavailableIfDatabaseAway(new QueryFailedError('INSERT', [], driverError));
  expect(answer !== null).toBe(isAway);
});
