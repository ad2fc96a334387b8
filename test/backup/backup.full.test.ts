import { spawnSync } from 'node:child_process';
import { readdir, readFile, stat } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DATABASE_SCHEMA } from '../../src/app/database-schema.js';
import { Snapshot } from '../../src/backup/snapshot.js';
import { loadConfig } from '../../src/config/config.js';
import { Backups, backup, linesOf, restore } from '../support/backups/backups.js';
import { fillEveryTable, onDatabase, readEveryTable } from '../support/backups/every-table.js';
import { MAIN, petstore, petstoreHere } from '../support/command-line.js';
import { databaseKinds } from '../support/databases.js';
import { eventually } from '../support/eventually.js';

const SEALED = 'v1.c2VhbGVk+/=';
let backups: Backups;
beforeAll(async () => {
  backups = await Backups.make();
});
afterAll(() => backups.remove());

describe.each(databaseKinds())('from %s', (kind) => {
  const others = databaseKinds();
  let source: string;
  let file: string;

  beforeAll(async () => {
    source = await backups.migrated(kind);
    await fillEveryTable(source);
    await onDatabase(source, (data) =>
      data.query('UPDATE certificates SET sealed_key = ? WHERE id = 0', [SEALED]),
    );
    file = backups.newFile();
    expect(await backup(source, file)).toMatchObject({ code: 0, json: { complete: true, file } });
  });

  test.each(others)('Backup-1: restored into %s and back, every table is equal', async (other) => {
    const middle = await backups.newDatabase(other);
    expect(await restore(file, middle)).toMatchObject({ code: 0, json: { migrated: [] } });
    const before = await readEveryTable(source);
    expect(Object.values(before).map((rows) => rows.length)).toEqual(Object.keys(before).map(() => 5));
    expect(await readEveryTable(middle)).toEqual(before);

    const second = backups.newFile();
    await backup(middle, second);
    const end = await backups.newDatabase(kind);
    expect(await restore(second, end)).toMatchObject({ code: 0 });
    expect(await readEveryTable(end)).toEqual(before);
    // The same content, whichever database wrote it.
    const content = async (path: string) => (await linesOf(path)).slice(1, -1).sort();
    expect(await content(second)).toEqual(await content(file));
  });

  test('Backup-2: the file is private, starts with its header, and has sealed keys as they are', async () => {
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const lines = await linesOf(file);
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      format: 'petstore-backup',
      formatVersion: 1,
      schema: expect.stringMatching(/\d{13}$/),
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      version: expect.any(String),
      database: kind,
    });
    expect(lines.filter((line) => line.includes(SEALED))).toHaveLength(1);
    const verified = await petstoreHere(['backup', 'verify', file, '--json']);
    expect(verified).toMatchObject({ code: 0, json: { database: kind, rows: { pets: 5, certificates: 5 } } });
    const told = await petstoreHere(['backup', 'verify', file]);
    expect(told.stdout).toContain('complete and undamaged: 95 rows');
  });

  test('Backup-3: a backup shows one moment, although others write', async () => {
    const databaseUrl = await backups.migrated(kind);
    await onDatabase(databaseUrl, async (data) => {
      const insert = 'INSERT INTO pets (project_id, id, name, category_id, created_at_ms)';
      await data.query(`${insert} VALUES (1, 1, 'Rex', 1, 1)`);
      for (let pets = 1; pets < 10_000; pets *= 2) {
        await data.query(`${insert} SELECT 1, id + ${pets}, name, 1, 1 FROM pets`);
      }
      let isOver = false;
      const path = backups.newFile();
      const ended = petstore(['backup', path, '--json'], { databaseUrl }).finally(() => {
        isOver = true;
      });
      let id = 1_000_000;
      for (; !isOver; id += 1) {
        await data.transaction(async (manager) => {
          // `acme_orders` is read before `pets`, `requests_left_out` after it.
          await manager.query(`INSERT INTO acme_orders VALUES (${id}, 1, 1, 'a', 'a', 0, 1, NULL)`);
          await manager.query(`${insert} VALUES (2, ${id}, 'New', 1, 1)`);
          await manager.query(`INSERT INTO requests_left_out VALUES (1, ${id}, 1)`);
        });
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      const { code, json } = await ended;
      expect(code).toBe(0);
      const added = json.rows.acme_orders;
      expect(json.rows.pets).toBe(16_384 + added);
      expect(json.rows.requests_left_out).toBe(added);
      expect(id - 1_000_000).toBeGreaterThan(added);
    });
  });

  test('Backup-4: standard output has the backup and nothing else', async () => {
    const path = backups.newFile();
    const shell = `"$0" "$1" backup - > '${path}'`;
    const env = { ...process.env, DATABASE_URL: source };
    const ended = spawnSync('sh', ['-c', shell, process.execPath, MAIN], { env, encoding: 'utf8' });
    expect(ended.status).toBe(0);
    expect((await linesOf(path)).slice(1, -1)).toEqual((await linesOf(file)).slice(1, -1));
    expect(await backup(source, '-')).toMatchObject({ code: 2 });
  });

  test('Backup-8: a reader of standard output that ends early gets no success', async () => {
    const ended = petstore(['backup', '-'], {
      databaseUrl: source,
      onStart: ({ stdout }) => stdout?.destroy(),
    });
    expect((await ended).code).toBe(1);
  });

  if (kind !== 'sqlite') {
    test('Backup-9: counting the rows first keeps no lock on the definition of a table', async () => {
      const databaseUrl = await backups.migrated(kind);
      const { database } = loadConfig({ DATABASE_URL: databaseUrl });
      const snapshot = await Snapshot.open(database, DATABASE_SCHEMA);
      try {
        expect(await snapshot.count()).toBeGreaterThan(0);
        await onDatabase(databaseUrl, async (data) => {
          await data.query('SET SESSION lock_wait_timeout = 5');
          await data.query('ALTER TABLE pets ADD COLUMN more int NULL');
        });
      } finally {
        await snapshot.close();
      }
    });
  }

  test('Backup-5: an existing file, a missing database and an older one are refused', async () => {
    const before = await readdir(backups.folder);
    const bytes = await readFile(file);
    expect(await backup(source, file)).toMatchObject({ code: 1, json: { error: { code: 'conflict' } } });
    expect(await readFile(file)).toEqual(bytes);
    expect(await backup(source, file, '--force')).toMatchObject({ code: 0 });
    const missing = await backup('sqlite:/nowhere/at/all.sqlite', backups.newFile());
    expect(missing).toMatchObject({ code: 1, json: { error: { code: 'not_found' } } });
    const older = await backups.migrated('sqlite');
    await petstoreHere(['migrate', '--revert'], { databaseUrl: older });
    const lacking = await backup(older, backups.newFile());
    expect(lacking).toMatchObject({ code: 1, stdout: expect.stringContaining('petstore migrate') });
    await onDatabase(older, (data) =>
      data.query("INSERT INTO migrations (timestamp, name) VALUES (1990000000000, 'Later1990000000000')"),
    );
    const newer = await backup(older, backups.newFile());
    expect(newer).toMatchObject({ code: 1, stdout: expect.stringContaining('Later1990000000000') });
    expect(await readdir(backups.folder)).toEqual(before);
  });

  test('Backup-6: an interrupted backup leaves no file and no part of one', async () => {
    const databaseUrl = await backups.migrated('sqlite');
    await onDatabase(databaseUrl, async (data) => {
      const insert = 'INSERT INTO pets (project_id, id, name, category_id, created_at_ms)';
      await data.query(`${insert} VALUES (1, 1, 'Rex', 1, 1)`);
      for (let pets = 1; pets < 60_000; pets *= 2) {
        await data.query(`${insert} SELECT 1, id + ${pets}, name, 1, 1 FROM pets`);
      }
    });
    const before = await readdir(backups.folder);
    const ended = petstore(['backup', backups.newFile(), '--json'], {
      databaseUrl,
      onStart: async (child) => {
        const isPart = (name: string) => name.endsWith('.part');
        await eventually('a part', async () => (await readdir(backups.folder)).some(isPart));
        child.kill('SIGINT');
      },
    });
    expect(await ended).toMatchObject({ code: 1, json: { complete: false, file: null } });
    expect(await readdir(backups.folder)).toEqual(before);
  });
});
