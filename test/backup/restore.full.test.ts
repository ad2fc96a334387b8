import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, readFile, rm, writeFile } from 'node:fs/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DATABASE_SCHEMA } from '../../src/app/database-schema.js';
import { verifyBackup } from '../../src/backup/read-backup.js';
import { restore as restoreInto } from '../../src/backup/restore.js';
import { RestoreTarget } from '../../src/backup/restore-target.js';
import { loadConfig } from '../../src/config/config.js';
import { Backups, backup, linesOf, restore, writeBackup } from '../support/backups/backups.js';
import { fillEveryTable, onDatabase, readEveryTable } from '../support/backups/every-table.js';
import { petstore, petstoreHere } from '../support/command-line.js';
import { databaseKinds } from '../support/databases.js';
import { eventually } from '../support/eventually.js';

let backups: Backups;
beforeAll(async () => {
  backups = await Backups.make();
});
afterAll(() => backups.remove());

describe.each(databaseKinds())('from %s', (kind) => {
  let source: string;
  let file: string;

  beforeAll(async () => {
    source = await backups.migrated(kind);
    await fillEveryTable(source);
    file = backups.newFile();
    expect(await backup(source, file)).toMatchObject({ code: 0, json: { complete: true, file } });
  });

  test('Restore-1: a database with rows stays unchanged without --force, which replaces its rows', async () => {
    const into = await backups.migrated(kind);
    await onDatabase(into, (data) => data.query("INSERT INTO acme_challenges VALUES ('t', 'h', 'k', 1)"));
    const before = await readEveryTable(into);
    const refused = await restore(file, into);
    expect(refused).toMatchObject({ code: 1, json: { error: { code: 'conflict' } } });
    expect(refused.stdout).toMatch(/rows in acme_challenges\..*--force/);
    expect(await readEveryTable(into)).toEqual(before);
    expect(await restore(file, into, '--force')).toMatchObject({ code: 0 });
    expect(await readEveryTable(into)).toEqual(await readEveryTable(source));
  });

  test('Restore-2: a killed restore is told by the next one, and nothing else uses the database', async () => {
    const large = backups.newFile();
    const lines = (await linesOf(file)).slice(0, -1).map((line) => JSON.parse(line));
    const pets = lines.findIndex(({ table }) => table === 'pets');
    const more = Array.from({ length: 30_000 }, (_, at) => ['7', `${at}`, 'Rex', '1', null, '1']);
    await writeBackup(large, lines.toSpliced(pets + 1, 0, ...more));
    const into = await backups.newDatabase(kind);
    const killed = petstore(['restore', large, '--into', into], {
      onStart: async (child) => {
        await eventually('a part of the rows', async () => (await countOf(into, 'pets')) > 0);
        child.kill('SIGKILL');
      },
    });
    expect((await killed).code).toBe(null);
    const again = await restore(file, into);
    expect(again).toMatchObject({ code: 1, json: { error: { code: 'conflict' } } });
    expect(again.stdout).toMatch(/The restore of backup-\d+\.gz that began at .* was interrupted.*--force/);
    for (const args of [['migrate'], ['backup', backups.newFile()]]) {
      const other = await petstoreHere(args, { databaseUrl: into });
      expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining('was interrupted') });
    }
    expect(await restore(file, into, '--force')).toMatchObject({ code: 0 });
    expect(await readEveryTable(into)).toEqual(await readEveryTable(source));
    expect(await petstoreHere(['migrate'], { databaseUrl: into })).toMatchObject({ code: 0 });
  });

  test('Restore-9: a pipe is refused before anything is deleted, because a restore reads its file twice', async () => {
    const into = await backups.migrated(kind);
    await fillEveryTable(into);
    const before = await readEveryTable(into);
    const pipe = backups.newFile();
    execFileSync('mkfifo', [pipe]);
    const refused = await restore(pipe, into, '--force');
    expect(refused).toMatchObject({ code: 1, json: { error: { code: 'invalid_request' } } });
    expect(refused.stdout).toContain('not a regular file');
    expect(await readEveryTable(into)).toEqual(before);
  });

  test('Restore-10: rows that another program stored meanwhile are told, and the database stays out of use', async () => {
    const into = await backups.newDatabase(kind);
    const target = await RestoreTarget.open(loadConfig({ DATABASE_URL: into }).database, DATABASE_SCHEMA);
    try {
      await restore(file, into);
      await target.requireRows({ pets: 5, projects: 5 });
      await target.source.query('DELETE FROM pets WHERE id = 0');
      await expect(target.requireRows({ projects: 5, pets: 5 })).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringContaining('pets has 4 rows'),
      });
    } finally {
      await target.close();
    }
  });

  test('Restore-11: a restore counts its rows: a file replaced after its check leaves the database out of use', async () => {
    const replaced = backups.newFile();
    await copyFile(file, replaced);
    const into = await backups.newDatabase(kind);
    const reading = { signal: AbortSignal.timeout(60_000), onProgress: () => {} };
    const content = await verifyBackup(replaced, reading);
    const lines = (await linesOf(file)).slice(0, -1).map((line) => JSON.parse(line));
    const pets = lines.findIndex(({ table }) => table === 'pets');
    await writeBackup(replaced, lines.toSpliced(pets + 1, 1));
    const { database } = loadConfig({ DATABASE_URL: into });
    const wanted = { path: replaced, fileName: 'x', content, isForced: false, startedAt: '', reading };
    await expect(restoreInto(database, DATABASE_SCHEMA, wanted)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/^pets has \d+ rows and not the \d+ of the backup/),
    });
    expect((await petstoreHere(['migrate'], { databaseUrl: into })).stderr).toContain('was interrupted');
  });

  test('Backup-10: a table of several pages is whole, at the end of a page too', async () => {
    const large = await backups.migrated(kind);
    const values = Array.from({ length: 2_000 }, (_, at) => `(7, ${at}, 'Rex', 1, NULL, 1)`);
    await onDatabase(large, (data) =>
      data.query(
        `INSERT INTO pets (project_id, id, name, category_id, status, created_at_ms) VALUES ${values}`,
      ),
    );
    const whole = backups.newFile();
    await backup(large, whole);
    expect(JSON.parse((await linesOf(whole)).at(-1) ?? '').rows.pets).toBe(2_000);
  });

  test('Restore-3: an older backup gets the newer migrations after its rows', async () => {
    const older = backups.newFile();
    const table = (name: string, columns: string[]) => ({ table: name, columns });
    const header = JSON.parse((await linesOf(file))[0] ?? '');
    await writeBackup(older, [
      { ...header, schema: 'RateLimits1770000002000' },
      table('projects', [
        'id',
        'slug',
        'name',
        'plan',
        'per_minute',
        'per_day',
        'published_at_ms',
        'created_at_ms',
      ]),
      ['9', 'shop', 'Shop', 'PRO', null, null, null, '5'],
      table('api_keys', [
        ...['id', 'project_id', 'name', 'prefix', 'digest', 'scopes', 'created_at_ms'],
        ...['expires_at_ms', 'revoked_at_ms', 'successor_id', 'rehearses'],
      ]),
      table('pets', ['project_id', 'id', 'name', 'category_id', 'status', 'created_at_ms']),
      ['9', '1', 'Rex', '1', 'sold', '5'],
      table('idempotency_keys', [
        ...['project_id', 'key_digest', 'fingerprint', 'reserved_id'],
        ...['locked_until_ms', 'result', 'expires_at_ms'],
      ]),
      table('audit_events', [
        'id',
        'at_ms',
        'actor',
        'action',
        'project_id',
        'subject',
        'request_id',
        'detail',
      ]),
      table('pet_imports', [
        ...['project_id', 'path_digest', 'fingerprint', 'run_id', 'line', 'position_bytes', 'imported'],
        ...['refused', 'report_bytes', 'report_path', 'finished_at_ms'],
      ]),
      table('rate_windows', ['subject', 'minute_number', 'minute_used', 'day_number', 'day_used']),
      table('key_bans', [
        ...['key_id', 'strikes', 'ladder_step', 'quiet_since_ms', 'until_ms', 'refused_at_ms'],
        ...['retry_at_ms', 'meaningless_at_ms', 'is_lifted'],
      ]),
    ]);
    // Also into a database that is empty, but has the newest schema.
    for (const into of [await backups.newDatabase(kind), await backups.migrated(kind)]) {
      const { code, json } = await restore(older, into);
      expect(code).toBe(0);
      expect(json.migrated[0]).toBe('Domains1770000003000');
      const tables = await readEveryTable(into);
      expect(tables.pets).toEqual(['["9","1","Rex","1","sold","5"]']);
      expect(tables.change_sequences).toHaveLength(2);
      expect(await petstoreHere(['migrate', '--json'], { databaseUrl: into })).toMatchObject({
        json: { applied: [] },
      });
    }
  });

  test('Restore-4: the tables of another program are never touched', async () => {
    const into = await backups.newDatabase(kind);
    await onDatabase(into, (data) => data.query('CREATE TABLE pets (id INTEGER)'));
    const refused = await restore(file, into, '--force');
    expect(refused).toMatchObject({ code: 1, stdout: expect.stringContaining('another program') });
    expect(await countOf(into, 'pets')).toBe(0);
  });
});

describe('a file that is no good', () => {
  let source: string;
  let file: string;
  let bytes: Buffer;
  let into: string;

  beforeAll(async () => {
    source = await backups.migrated('sqlite');
    await fillEveryTable(source);
    file = backups.newFile();
    await backup(source, file);
    bytes = await readFile(file);
  });
  beforeEach(async () => {
    into = await backups.newDatabase('sqlite');
  });

  const expectRefused = async (path: string, reason: RegExp) => {
    for (const args of [
      ['backup', 'verify', path],
      ['restore', path, '--into', into],
    ]) {
      const ended = await petstoreHere([...args, '--json']);
      expect(ended).toMatchObject({ code: 1, json: { error: { code: 'invalid_request' } } });
      expect(ended.stdout).toMatch(reason);
    }
    expect(existsSync(into.slice('sqlite:'.length))).toBe(false);
  };

  test('Restore-5: a truncated file is refused, and nothing is written', async () => {
    for (const length of [0, 1, 20, 1_000, bytes.length - 9, bytes.length - 1]) {
      const path = backups.newFile();
      await writeFile(path, bytes.subarray(0, length));
      await expectRefused(path, /truncated|empty/);
    }
    const path = backups.newFile();
    const lines = await linesOf(file);
    for (const kept of [lines.slice(0, -1), lines.toSpliced(5, 1), lines.toSpliced(-1, 0, lines[2] ?? '')]) {
      await writeFile(path, gzipSync(`${kept.join('\n')}\n`));
      await expectRefused(path, /truncated|damaged/);
    }
  });

  test('Restore-6: a file with one changed byte is refused', async () => {
    const path = backups.newFile();
    // The bytes before are gzip's own header, which holds no content.
    const text = gunzipSync(bytes).toString();
    let same = 0;
    for (let at = 10; at < bytes.length; at += Math.floor(bytes.length / 40)) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ 0x10;
      // A few bits do not matter: they refer to another place that has the same text.
      if (unzipped(damaged) === text) same += 1;
      else {
        await writeFile(path, damaged);
        await expectRefused(path, /damaged|truncated|not a backup/);
      }
    }
    expect(same).toBeLessThan(20);
    await writeFile(path, gzipSync(text.replace('quoted', 'quotes')));
    await expectRefused(path, /checksum is wrong/);
  });

  test.each([
    ['text', Buffer.from('id,name\n1,Rex\n')],
    ['another gzip', gzipSync('id,name\n1,Rex\n')],
    ['another NDJSON', gzipSync('{"id":1}\n{"id":2}\n')],
    ['a line without an end', gzipSync('x'.repeat(20_000_000))],
  ])('Restore-7: %s is no backup', async (_, content) => {
    const path = backups.newFile();
    await writeFile(path, content);
    await expectRefused(path, /not a backup/);
    await rm(path);
    await expectRefused(path, /can't be read: ENOENT/);
  });

  test('Restore-8: a newer schema, a newer format and other tables are refused before the first write', async () => {
    const content = (await linesOf(file)).slice(0, -1).map((line) => JSON.parse(line));
    const refused = async (changed: object[], reason: RegExp) => {
      const path = backups.newFile();
      await writeBackup(path, changed);
      const ended = await restore(path, into);
      expect(ended).toMatchObject({ code: 1, json: { error: { code: 'invalid_request' } } });
      expect(ended.stdout).toMatch(reason);
      expect(await onDatabase(into, (data) => data.query('SELECT * FROM sqlite_master'))).toEqual([]);
    };
    const [header, ...rest] = content;
    await refused(
      [{ ...header, schema: 'Later1990000000000', version: '9.1.0' }, ...rest],
      /release 9\.1\.0/,
    );
    await refused([{ ...header, formatVersion: 2, version: '9.1.0' }, ...rest], /format 2/);
    const pets = content.findIndex(({ table }) => table === 'pets');
    const without = content.slice(0, pets);
    await refused(without, /do not match its schema/);
    const renamed = { table: 'pets', columns: [...content[pets].columns.slice(1), 'colour'] };
    await refused(
      [...content.slice(0, pets), renamed, ...content.slice(pets + 1)],
      /do not match its schema/,
    );
  });
});

async function countOf(databaseUrl: string, table: string): Promise<number> {
  return onDatabase(databaseUrl, async (data) => {
    const [row] = await data.query(`SELECT COUNT(*) AS count FROM ${table}`).catch(() => []);
    return Number(row?.count ?? 0);
  });
}

function unzipped(bytes: Buffer): string | null {
  try {
    return gunzipSync(bytes).toString();
  } catch {
    return null;
  }
}
