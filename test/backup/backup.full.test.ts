import { type ExecFileException, execFile } from 'node:child_process';
import { copyFile, readdir, readFile, rename, stat, truncate, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { dumpLine } from '../../src/ground/backup/backup.js';
import { databaseTarget } from '../../src/ground/config/config.js';
import { Backups, backup, countOf, whileWritten } from '../support/backups/backups.js';
import { fillEveryTable, onDatabase, readEveryTable } from '../support/backups/every-table.js';
import { petstore, petstoreHere } from '../support/command-line.js';
import { databaseKinds } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { startGateway } from '../support/gateway-process.js';
import { putSqlClient } from '../support/servers/sql-client.js';

const SEALED = 'v1.c2VhbGVk+/=';
const TOYS = 16_384;
let backups: Backups;
let source: string;
let file: string;

beforeAll(async () => {
  backups = await Backups.make();
  source = await backups.migrated('sqlite');
  await fillEveryTable(source);
  await onDatabase(source, (data) =>
    data.query('UPDATE certificates SET sealed_key = ? WHERE id = 0', [SEALED]),
  );
  file = backups.newFile();
  expect(await backup(source, file)).toMatchObject({ code: 0, json: { complete: true, file } });
});
afterAll(() => backups.remove());

const fileOf = (url: string) => url.slice('sqlite:'.length);
const verify = (path: string) => petstoreHere(['backup', 'verify', path, '--json']);

test('Backup-1: a backup is a database with equal tables, and sealed keys as they are', async () => {
  const tables = await readEveryTable(source);
  expect(Object.values(tables).map((rows) => rows.length)).toEqual(Object.keys(tables).map(() => 5));
  expect(await readEveryTable(`sqlite:${file}`)).toEqual(tables);
  expect(tables.certificates?.filter((row) => row.includes(SEALED))).toHaveLength(1);
});

test('Backup-2: the file is private and alone, and verify says its schema', async () => {
  const fresh = backups.newFile();
  await backup(source, fresh);
  expect((await stat(fresh)).mode & 0o777).toBe(0o600);
  expect(await verify(fresh)).toMatchObject({
    code: 0,
    json: { file: fresh, schema: expect.stringMatching(/^[A-Z]\w+\d{13}$/) },
  });
  const names = await readdir(backups.folder);
  expect(names.filter((name) => fresh.endsWith(name) || name.endsWith('.part'))).toHaveLength(1);
});

test('Backup-3: a backup shows one moment, although others write', async () => {
  const databaseUrl = await backups.withToys('sqlite', TOYS);
  const path = backups.newFile();
  const { result, transactions } = await whileWritten(databaseUrl, () =>
    petstore(['backup', path, '--json'], { databaseUrl }),
  );
  expect(result.code).toBe(0);
  const added = await countOf(`sqlite:${path}`, 'acme_orders');
  expect(added).toBeGreaterThan(0);
  expect(transactions).toBeGreaterThan(added);
  expect(await countOf(`sqlite:${path}`, 'toys')).toBe(TOYS + added);
  expect(await countOf(`sqlite:${path}`, 'usage_by_dimension')).toBe(added);
});

test('Backup-5: an existing file, a missing database and standard output are refused', async () => {
  const bytes = await readFile(file);
  expect(await backup(source, file)).toMatchObject({ code: 1, json: { error: { code: 'conflict' } } });
  expect(await readFile(file)).toEqual(bytes);
  const replaced = backups.newFile();
  await writeFile(replaced, 'old');
  expect(await backup(source, replaced, '--force')).toMatchObject({ code: 0 });
  expect(await verify(replaced)).toMatchObject({ code: 0 });
  const missing = await backup('sqlite:/nowhere/at/all.sqlite', backups.newFile());
  expect(missing).toMatchObject({ code: 1, json: { error: { code: 'not_found' } } });
  expect(await backup(source, '-')).toMatchObject({ code: 2 });
  expect((await readdir(backups.folder)).filter((name) => name.endsWith('.part'))).toEqual([]);
});

test('Backup-6: an interrupted backup leaves no file and no part of one', async () => {
  const databaseUrl = await backups.withToys('sqlite', 2 ** 20);
  const before = await readdir(backups.folder);
  const ended = petstore(['backup', backups.newFile(), '--json'], {
    databaseUrl,
    onStart: async (child) => {
      const isPart = (name: string) => name.endsWith('.part');
      await eventually('a part', async () => (await readdir(backups.folder)).some(isPart));
      child.kill('SIGINT');
    },
  });
  expect(await ended).toMatchObject({ code: 1, json: { error: { code: 'conflict' } } });
  expect(await readdir(backups.folder)).toEqual(before);
});

test('Backup-11: verify refuses a truncated file, a damaged page, another file and a newer schema', async () => {
  const refused = async (path: string, reason: RegExp) => {
    const ended = await verify(path);
    expect(ended).toMatchObject({ code: 1 });
    expect(ended.json.error.message).toMatch(reason);
  };
  const { size } = await stat(file);
  for (const length of [1, 100, 5_000, size / 2, size - 1]) {
    const path = backups.newFile();
    await copyFile(file, path);
    await truncate(path, Math.floor(length));
    await refused(path, /is damaged/);
  }
  const bytes = await readFile(file);
  const pages = backups.newFile();
  // The header of a page of the middle: its kind, and the number of its cells.
  await writeFile(pages, bytes.fill(0x55, 4_096 * 20, 4_096 * 20 + 12));
  await refused(pages, /is damaged/);
  const other = backups.newFile();
  await writeFile(other, 'id,name\n1,Rex\n');
  await refused(other, /is damaged: file is not a database/);
  await writeFile(other, '');
  await refused(other, /not a database of the Petstore Gateway/);
  await refused(backups.newFile(), /There is no database at/);
  const newer = backups.newFile();
  await copyFile(file, newer);
  await onDatabase(`sqlite:${newer}`, (data) =>
    data.query("INSERT INTO migrations (timestamp, name) VALUES (1990000000000, 'Later1990000000000')"),
  );
  await refused(newer, /Later1990000000000/);
});

test('Backup-12: a backup is restored in the place of the database, and a gateway serves it', async () => {
  const databaseUrl = await backups.migrated('sqlite');
  await petstoreHere(['projects', 'create', 'shop'], { databaseUrl });
  const { json } = await petstoreHere(['keys', 'create', 'shop', '--json'], { databaseUrl });
  const path = backups.newFile();
  const env = { DATABASE_URL: databaseUrl, DEMO: '0' };
  const first = await startGateway({ env });
  const post = (url: string, name: string) =>
    fetch(`${url}/v1/toys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${json.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name, categoryId: 1 }),
    });
  expect((await post(first.url, 'Before')).status).toBe(201);
  expect(await backup(databaseUrl, path)).toMatchObject({ code: 0 });
  expect((await post(first.url, 'After')).status).toBe(201);
  await first.kill('SIGKILL');
  // As `docs/operations.md` says: the old file goes with its -wal, which a restored file must never meet.
  const folder = dirname(fileOf(databaseUrl));
  for (const name of await readdir(folder)) await rename(join(folder, name), join(folder, `old-${name}`));
  await copyFile(path, fileOf(databaseUrl));
  const second = await startGateway({ env });
  const answer = await fetch(`${second.url}/v1/toys`, { headers: { authorization: `Bearer ${json.key}` } });
  const toys = (await answer.json()) as { name: string }[];
  expect(toys.map(({ name }) => name)).toEqual(['Before']);
  await second.kill('SIGKILL');
  const told = await petstoreHere(['restore', path, '--into', databaseUrl]);
  expect(told).toMatchObject({ code: 2, stderr: expect.stringContaining('petstore backup --help') });
});

test.each(databaseKinds().flatMap((kind) => (kind === 'sqlite' ? [] : [`${kind} mysql`, `${kind} mariadb`])))(
  'Backup-13: on %s:// the command makes no backup, and its line dumps a database that loads again',
  async (address) => {
    const [kind, scheme] = address.split(' ') as ['mysql' | 'mariadb', string];
    await putSqlClient(kind, backups.folder);
    const migrated = await backups.migrated(kind);
    await fillEveryTable(migrated);
    // With the rights that Docker's image gives to a user.
    const user = `dump_${migrated.slice(-12)}@'127.0.0.1'`;
    await onDatabase(migrated, async (data) => {
      await data.query(`CREATE USER ${user}`);
      await data.query(`GRANT ALL ON ${new URL(migrated).pathname.slice(1)}.* TO ${user}`);
    });
    const databaseUrl = migrated.replace(/^\w+:\/\/root@/, `${scheme}://${user.split('@')[0]}@`);
    const path = `${backups.newFile()} of 'shop'.sql`;
    const told = await backup(databaseUrl, path);
    expect(told).toMatchObject({ code: 1, json: { complete: false, file: null } });
    const { stdout: line, stderr } = await petstoreHere(['backup', path], { databaseUrl });
    expect(line).toBe(`${told.json.run}\n`);
    expect(stderr).toContain('Run this line');
    expect(line).toContain(kind === 'mysql' ? ' mysqldump ' : ' mariadb-dump ');
    expect(await shell(line)).toBe(0);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await readFile(path, 'utf8')).trimEnd()).toMatch(/\n-- Dump completed.*$/);

    const into = await backups.newDatabase(kind);
    const { hostname, port, pathname } = new URL(into);
    const load = `${kind} --protocol=TCP --host=${hostname} --port=${port} --user=root ${pathname.slice(1)}`;
    expect(await shell(`${load} < '${path.replaceAll("'", "'\\''")}'`)).toBe(0);
    expect(await readEveryTable(into)).toEqual(await readEveryTable(databaseUrl));
    expect(await petstoreHere(['migrate', '--json'], { databaseUrl: into })).toMatchObject({
      json: { applied: [] },
    });
    // An existing file stays.
    expect(await shell(line)).not.toBe(0);
    await onDatabase(migrated, (data) => data.query(`DROP USER ${user}`));
  },
);

test('Backup-20: without an answer of the server there is no line, because only the server knows what it is', async () => {
  const { code, json } = await backup('mysql://root@127.0.0.1:1/shop', backups.newFile());
  expect([code, json.error.code]).toEqual([1, 'unavailable']);
});

test('Backup-14: the line for MySQL has no password, and quotes what a shell would read', () => {
  const database = databaseTarget('DATABASE_URL', 'mysql://us%20er:p%40ss-word@[::1]:3307/shop?ssl=true');
  expect(dumpLine(database as Parameters<typeof dumpLine>[0], 'mysql', "it's $HOME.sql")).toBe(
    '(umask 077; set -C; mysqldump --single-transaction --no-tablespaces --set-gtid-purged=OFF ' +
      "--default-character-set=utf8mb4 --protocol=TCP --host=::1 --port=3307 '--user=us er' --password " +
      "--ssl-mode=REQUIRED shop > 'it'\\''s $HOME.sql')",
  );
});

/** The exit code of a line of the shell, with the programs of the backups' folder. */
function shell(line: string): Promise<number> {
  const env = { ...process.env, PATH: `${backups.folder}${delimiter}${process.env.PATH}` };
  return new Promise((resolve) => {
    execFile('sh', ['-c', line], { env }, (error: ExecFileException | null) =>
      resolve(error === null ? 0 : Number(error.code)),
    );
  });
}
