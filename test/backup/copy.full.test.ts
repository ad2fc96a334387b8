import { linkSync, symlinkSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CopyTarget, copyDatabase } from '../../src/ground/backup/copy.js';
import { withSnapshot } from '../../src/ground/backup/snapshot.js';
import { loadConfig } from '../../src/ground/config/config.js';
import { Backups, copy, countOf, whileWritten } from '../support/backups/backups.js';
import { fillEveryTable, onDatabase, readEveryTable } from '../support/backups/every-table.js';
import { petstore, petstoreHere } from '../support/command-line.js';
import { databaseKinds } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { DATABASE_SCHEMA } from '../support/gateway/tested-gateway.js';

const TOYS = 16_384;
/** Enough that a copy is still under way when the signal arrives. */
const ROWS = 2 ** 17;
let backups: Backups;
beforeAll(async () => {
  backups = await Backups.make();
});
afterAll(() => backups.remove());

const targetOf = (databaseUrl: string) => loadConfig({ DATABASE_URL: databaseUrl }).database;

describe.each(databaseKinds())('from %s', (kind) => {
  let source: string;

  beforeAll(async () => {
    source = await backups.migrated(kind);
    await fillEveryTable(source);
  });

  test.each(databaseKinds())('Copy-1: copied into %s and back, every table is equal', async (other) => {
    const middle = await backups.newDatabase(other);
    const before = await readEveryTable(source);
    expect(Object.values(before).map((rows) => rows.length)).toEqual(Object.keys(before).map(() => 5));
    const rows = Object.fromEntries(Object.keys(before).map((table) => [table, 5]));
    const { code, json } = await copy(source, middle);
    expect({ code, rows: json.rows }).toEqual({ code: 0, rows });
    expect(await readEveryTable(middle)).toEqual(before);
    const end = await backups.newDatabase(kind);
    expect(await copy(middle, end)).toMatchObject({ code: 0 });
    expect(await readEveryTable(end)).toEqual(before);
    const migrated = await petstoreHere(['migrate', '--json'], { databaseUrl: end });
    expect(migrated).toMatchObject({ code: 0, json: { applied: [] } });
  });

  test('Copy-2: a database with rows stays unchanged without --force, which replaces its rows', async () => {
    const into = await backups.migrated(kind);
    await onDatabase(into, (data) => data.query("INSERT INTO acme_accounts VALUES ('d', 'a', 'k', 1)"));
    const before = await readEveryTable(into);
    const refused = await copy(source, into);
    expect(refused).toMatchObject({ code: 1, json: { error: { code: 'conflict' } } });
    expect(refused.stdout).toMatch(/rows in acme_accounts\..*--force/);
    expect(await readEveryTable(into)).toEqual(before);
    expect(await copy(source, into, '--force')).toMatchObject({ code: 0 });
    expect(await readEveryTable(into)).toEqual(await readEveryTable(source));
  });

  test.each(['SIGKILL', 'SIGINT'] as const)(
    'Copy-3: a copy that ends by %s is told by the next one, and nothing else uses the database',
    async (signal) => {
      const large = await backups.withToys(kind, ROWS);
      const into = await backups.newDatabase(kind);
      const ended = await petstore(['copy', '--from', large, '--into', into], {
        onStart: async (child) => {
          await eventually('a part of the rows', async () => (await countOf(into, 'toys')) > 0);
          child.kill(signal);
        },
      });
      expect(ended.code).toBe(signal === 'SIGINT' ? 1 : null);
      expect(ended.stderr).toMatch(signal === 'SIGINT' ? /has a part of the rows.*--force/ : /^$/);
      expect(await countOf(into, 'toys')).toBeLessThan(ROWS);
      const again = await copy(source, into);
      expect(again).toMatchObject({ code: 1, json: { error: { code: 'conflict' } } });
      expect(again.stdout).toMatch(/The copy of \w+:.+ that began at .* was interrupted.*--force/);
      const next = await copy(into, await backups.newDatabase('sqlite'));
      expect(next).toMatchObject({ code: 1, stdout: expect.stringContaining('was interrupted') });
      const others = [['migrate'], ...(kind === 'sqlite' ? [['backup', backups.newFile()]] : [])];
      for (const args of others) {
        const other = await petstoreHere(args, { databaseUrl: into });
        expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining('was interrupted') });
      }
      expect(await copy(source, into, '--force')).toMatchObject({ code: 0 });
      expect(await readEveryTable(into)).toEqual(await readEveryTable(source));
      expect(await petstoreHere(['migrate'], { databaseUrl: into })).toMatchObject({ code: 0 });
    },
  );

  test('Copy-4: a table of several pages is whole, at the end of a page and of a transaction too', async () => {
    const large = await backups.migrated(kind);
    const values = Array.from({ length: 5_000 }, (_, at) => `(${at % 3}, ${at}, 'Rex', 1, NULL, 1)`);
    await onDatabase(large, (data) =>
      data.query(
        `INSERT INTO toys (project_id, id, name, category_id, status, created_at_ms) VALUES ${values}`,
      ),
    );
    const into = await backups.newDatabase(kind);
    expect(await copy(large, into)).toMatchObject({ code: 0, json: { rows: { toys: 5_000 } } });
    expect(await readEveryTable(into)).toEqual(await readEveryTable(large));
  });

  test('Copy-5: the tables of another program are never touched', async () => {
    const into = await backups.newDatabase(kind);
    await onDatabase(into, (data) => data.query('CREATE TABLE toys (id INTEGER)'));
    const refused = await copy(source, into, '--force');
    expect(refused).toMatchObject({ code: 1, stdout: expect.stringContaining('another program') });
    expect(await countOf(into, 'toys')).toBe(0);
  });

  test('Copy-6: rows that another program stored or deleted meanwhile are told, and the database stays out of use', async () => {
    for (const change of [
      'DELETE FROM toys WHERE id = 0',
      "INSERT INTO rate_counters VALUES (?, '{}', 1, 1)",
    ]) {
      const into = await backups.newDatabase(kind);
      await copy(source, into);
      await onDatabase(into, async (data) => {
        const target = new CopyTarget(data, ['sqlite:a', '1']);
        await target.begin(true);
        await data.query("DELETE FROM change_sequences WHERE name = 'restored'");
        await data.query(change, change.includes('?') ? ['another'] : []);
        const counts = Object.fromEntries(data.entityMetadatas.map(({ tableName }) => [tableName, 5]));
        await expect(target.end(counts)).rejects.toMatchObject({
          code: 'conflict',
          message: expect.stringMatching(
            /^(toys has 4|rate_counters has 6) rows and not the 5 of the source/,
          ),
        });
      });
      expect((await petstoreHere(['migrate'], { databaseUrl: into })).stderr).toContain('was interrupted');
    }
  });

  test('Copy-7: of two copies into one database at once, none looks complete that is not', async () => {
    const into = await backups.newDatabase(kind);
    const large = await backups.withToys(kind, TOYS);
    const begin = (from: string, startedAt: string) =>
      copyDatabase(DATABASE_SCHEMA, {
        ...{ from: targetOf(from), into: targetOf(into), isForced: true, startedAt },
        ...{ signal: new AbortController().signal, onProgress: () => {} },
      });
    const ends = await Promise.allSettled([begin(large, '1'), begin(source, '2')]);
    const isServed = (await petstoreHere(['migrate'], { databaseUrl: into })).code === 0;
    expect(isServed).toBe(ends.some(({ status }) => status === 'fulfilled'));
    if (!isServed) return;
    const [, second] = ends;
    const complete = second?.status === 'fulfilled' ? source : large;
    expect(await readEveryTable(into)).toEqual(await readEveryTable(complete));
  });

  test('Copy-8: a copy ends in a database that another copy has begun to fill', async () => {
    const into = await backups.migrated(kind);
    await onDatabase(into, async (data) => {
      const first = new CopyTarget(data, ['sqlite:a', '1']);
      await first.begin(true);
      await new CopyTarget(data, ['sqlite:b', '2']).begin(true);
      await expect(first.end({})).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringContaining('Another copy'),
      });
    });
    expect((await petstoreHere(['migrate'], { databaseUrl: into })).stderr).toContain('sqlite:b');
  });

  test('Copy-9: a copy shows one moment, although others write to the source', async () => {
    const databaseUrl = await backups.withToys(kind, TOYS);
    const into = await backups.newDatabase(kind);
    const { result, transactions } = await whileWritten(databaseUrl, () =>
      petstore(['copy', '--from', databaseUrl, '--into', into, '--json']),
    );
    expect(result.code).toBe(0);
    const { rows } = result.json;
    expect(rows).toMatchObject({ toys: TOYS + rows.acme_orders, usage_by_dimension: rows.acme_orders });
    expect(transactions).toBeGreaterThan(rows.acme_orders);
    expect(await countOf(into, 'toys')).toBe(rows.toys);
  });

  test('Copy-10: a source without the newest migrations, with later ones, or without a file is refused', async () => {
    const into = await backups.newDatabase(kind);
    const older = await backups.migrated(kind);
    await petstoreHere(['migrate', '--revert'], { databaseUrl: older });
    const lacking = await copy(older, into);
    expect(lacking).toMatchObject({ code: 1, stdout: expect.stringContaining('petstore migrate') });
    await onDatabase(older, (data) =>
      data.query("INSERT INTO migrations (timestamp, name) VALUES (1990000000000, 'Later1990000000000')"),
    );
    for (const [from, to] of [
      [older, into],
      [source, older],
    ] as const) {
      const newer = await copy(from, to, '--force');
      expect(newer).toMatchObject({ code: 1, stdout: expect.stringContaining('Later1990000000000') });
    }
    const missing = await copy('sqlite:/nowhere/at/all.sqlite', into);
    expect(missing).toMatchObject({ code: 1, json: { error: { code: 'not_found' } } });
    expect(await copy('sqlite::memory:', into)).toMatchObject({ code: 2 });
    expect(await countOf(into, 'migrations')).toBe(0);
  });

  test('Copy-11: a database is never copied into itself', async () => {
    const names = [source];
    if (kind === 'sqlite') {
      const file = source.slice('sqlite:'.length);
      linkSync(file, `${file}.hard`);
      symlinkSync(file, `${file}.soft`);
      names.push(`${source}.hard`, `${source}.soft`);
    } else names.push(source.replace('127.0.0.1', 'localhost'));
    const before = await readEveryTable(source);
    for (const name of names) {
      const refused = await copy(source, name, '--force');
      expect(refused).toMatchObject({ code: 1, stdout: expect.stringContaining('the same database') });
    }
    expect(await readEveryTable(source)).toEqual(before);
  });

  if (kind !== 'sqlite') {
    test('Copy-16: a copy stores its end, so that no node of a cluster waits for a change that only the source got', async () => {
      const into = await backups.newDatabase(kind);
      const from = Math.floor(Date.now() / 1000) * 1000;
      for (const options of [[], ['--force']])
        expect(await copy(source, into, ...options)).toMatchObject({ code: 0 });
      const rows = await onDatabase(into, (data) =>
        data.query("SELECT value FROM change_sequences WHERE name = 'restored'"),
      );
      expect(rows).toHaveLength(1);
      expect(Number(rows[0].value)).toBeGreaterThanOrEqual(from);
      expect(Number(rows[0].value)).toBeLessThanOrEqual(Date.now());
    });

    test('Copy-12: counting the rows first keeps no lock on the definition of a table', async () => {
      const databaseUrl = await backups.migrated(kind);
      await withSnapshot(targetOf(databaseUrl), DATABASE_SCHEMA, async (snapshot) => {
        expect(await snapshot.counts()).toMatchObject({ toys: 0 });
        await onDatabase(databaseUrl, async (data) => {
          await data.query('SET SESSION lock_wait_timeout = 5');
          await data.query('ALTER TABLE toys ADD COLUMN more int NULL');
        });
      });
    });
  }
});

test('Copy-13: a message about a server that does not answer names it without its password', async () => {
  const away = 'mysql://root:secret-word@127.0.0.1:1/shop';
  const stored = await backups.migrated('sqlite');
  for (const [from, into] of [
    [stored, away],
    [away, stored],
  ] as const) {
    const refused = await copy(from, into);
    expect(refused).toMatchObject({ code: 1, json: { error: { code: 'unavailable' } } });
    expect(refused.stdout).toContain('127.0.0.1:1');
    expect(refused.stdout).not.toContain('secret-word');
  }
});
