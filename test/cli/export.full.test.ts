import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Services } from '../../src/app/services.js';
import { loadConfig } from '../../src/ground/config/config.js';
import { Database } from '../../src/ground/database/database.js';
import { FOLDER, MAIN, petstore, petstoreHere } from '../support/command-line.js';
import { createTestDatabase, databaseKinds, type TestDatabase } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { createServices, DATABASE_SCHEMA } from '../support/gateway/tested-gateway.js';
import type { ToyStatus } from '../support/nouns/toys.js';
import { Toy } from '../support/nouns/toys.js';

const MIN = -(2n ** 63n);
const MAX = 2n ** 63n - 1n;
const ACTOR = { name: 'test', requestId: null };

const TOYS: { name: string; categoryId: bigint; status: ToyStatus | null }[] = [
  { name: 'Rex', categoryId: MIN, status: 'sold' },
  { name: 'Rex', categoryId: MAX, status: null },
  { name: '"', categoryId: 9_007_199_254_740_993n, status: 'pending' },
  { name: 'the "2nd", of ,two,', categoryId: 0n, status: 'available' },
  { name: '  leading and trailing\t ', categoryId: -1n, status: null },
  { name: '\nline\r\nbreaks\r', categoryId: 1n, status: null },
  { name: '\uFEFFmark', categoryId: 1n, status: null },
  { name: '=1+1', categoryId: 1n, status: null },
  { name: '@SUM(A1:A2)', categoryId: 1n, status: null },
  { name: '\u0001\u001b[2J\u0085\u2028\u202E\\u0041', categoryId: 1n, status: null },
  { name: '😀🐕‍🦺𠮷 e\u0301', categoryId: 1n, status: null },
  { name: '𝒳'.repeat(255), categoryId: 1n, status: 'sold' },
  { name: '"'.repeat(255), categoryId: 1n, status: 'sold' },
  { name: '{"problem":1}', categoryId: 1n, status: null },
];

describe.each(databaseKinds())('on %s', (kind) => {
  let database: TestDatabase;
  let db: Database;
  let services: Services;
  let folder: string;
  let slug: string;
  let projectId: bigint;
  let projects = 0;

  beforeAll(async () => {
    database = await createTestDatabase(kind);
    await petstoreHere(['migrate'], { databaseUrl: database.url });
    // One statement of Export-6 copies 64,000 toys.
    const { database: target } = loadConfig({ DATABASE_URL: database.url });
    db = await Database.open(target, DATABASE_SCHEMA, { queryTimeoutMs: 60_000 });
    services = createServices(db, Date.now);
    folder = await mkdtemp(join(tmpdir(), 'petstore-export-'));
  });
  afterAll(async () => {
    await db.close();
    await database.remove();
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    ({ slug, id: projectId } = await newProject());
  });

  const newProject = () => {
    projects += 1;
    const wanted = { name: null, plan: 'FREE', perMinute: null, perDay: null } as const;
    return services.projects.create(ACTOR, { slug: `shop-${projects}`, ...wanted });
  };
  const add = async (toys: readonly object[]) => {
    const rows = toys.map((toy, at) => ({ projectId, id: BigInt(at) * 3n, createdAtMs: 1, ...toy }));
    await db.repository(Toy).insert(rows as Toy[]);
  };
  const addMany = (most: number) =>
    add(Array.from({ length: most }, (_, at) => ({ name: `Toy ${at}`, categoryId: 1n, status: null })));
  const stored = async (of: bigint) => {
    const rows = await db.repository(Toy).find({ where: { projectId: of }, order: { id: 'ASC' } });
    return rows.map(({ name, categoryId, status }) => ({ name, categoryId, status }));
  };
  const path = (name: string) => join(folder, `${slug}-${name}`);
  const run = (...args: string[]) => petstoreHere(args, { databaseUrl: database.url });
  const exportTo = (...args: string[]) => run('toys', 'export', slug, ...args);

  test('Export-10: with --safe-for-spreadsheets no cell of a name is a formula, whatever its separator', async () => {
    const formulas = [
      '=1+1',
      '+1',
      '-1',
      '@SUM(A1)',
      '\t=1',
      ' =1',
      '\uFEFF=1',
      '＝1',
      'x;=1',
      'x\t=1',
      'x,+1',
      'x\n-1',
    ];
    const harmless = ['Rex', "'=1", 'a-b', 'a=b;c', 'me@example.com', 'x\ny'];
    await add([...formulas, ...harmless].map((name) => ({ name, categoryId: -1n, status: null })));
    expect((await exportTo(path('safe.csv'), '--safe-for-spreadsheets')).code).toBe(0);
    const other = await newProject();
    await run('toys', 'import', other.slug, path('safe.csv'));
    const names = (await stored(other.id)).map(({ name }) => name);
    expect(names.slice(formulas.length)).toEqual(harmless);
    for (const name of names) expect(name).not.toMatch(/(^|[,;\t\r\n])\s*[=+\-@＝]/);
    expect(names.map((name) => name.replaceAll(/'(?=\s*[=+\-@＝])/g, '')).slice(0, -harmless.length)).toEqual(
      formulas,
    );

    const refused = await exportTo(path('safe.ndjson'), '--safe-for-spreadsheets');
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('is for CSV') });
  });

  test.each(['csv', 'ndjson'])(
    'Export-1: an exported file gives the same toys in another project, with new ids (%s)',
    async (format) => {
      await add(TOYS);
      const file = path(`a.${format}`);
      const exported = await exportTo(file, '--json');
      expect(exported).toMatchObject({ code: 0, stderr: '' });
      expect(exported.json).toEqual({
        project: slug,
        file,
        format,
        exported: TOYS.length,
        complete: true,
        seconds: expect.any(Number),
        rowsPerSecond: expect.any(Number),
      });
      const text = await readFile(file, 'utf8');
      const start = {
        csv: `id,name,categoryId,status\n0,Rex,${MIN},sold\n3,Rex,${MAX},\n6,"""",9007199254740993,pending\n`,
        ndjson: `{"id":0,"name":"Rex","categoryId":${MIN},"status":"sold"}\n{"id":3,"name":"Rex","categoryId":${MAX}}\n`,
      };
      expect(text.startsWith(start[format as 'csv' | 'ndjson'])).toBe(true);

      const other = await newProject();
      const imported = await run('toys', 'import', other.slug, file, '--json');
      expect(imported).toMatchObject({ code: 0, json: { imported: TOYS.length, refused: 0 } });
      expect(await stored(other.id)).toEqual(TOYS);
      expect((await db.repository(Toy).findOneByOrFail({ projectId: other.id, name: '"' })).id).not.toBe(6n);
    },
  );

  test('Export-2: every toy is exported once, in the order of ids, and no toy of another project', async () => {
    await addMany(2_500);
    await exportTo(path('b.ndjson'));
    const ids = (await readFile(path('b.ndjson'), 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).id);
    expect(ids).toEqual(Array.from({ length: 2_500 }, (_, at) => at * 3));
    const empty = await newProject();
    await run('toys', 'export', empty.slug, path('empty.csv'));
    expect(await readFile(path('empty.csv'), 'utf8')).toBe('id,name,categoryId,status\n');
  });

  test('Export-3: an export ends although toys are added meanwhile', async () => {
    await addMany(2_000);
    const { signal } = new AbortController();
    let pages = 0;
    const { exports } = services.filesOf('toys');
    for await (const toys of exports.pages(projectId, { signal, onWait: () => {} })) {
      pages += 1;
      expect(toys).toHaveLength(1_000);
      const newest = { projectId, id: 10_000n + BigInt(pages), createdAtMs: 1 };
      await db.repository(Toy).insert({ ...newest, name: 'New', categoryId: 1n, status: null });
    }
    expect(pages).toBe(2);
  });

  test('Export-4: without a file standard output has the toys and nothing else', async () => {
    await add(TOYS.slice(0, 1));
    const toStandardOutput = (...args: string[]) =>
      petstore(['toys', 'export', slug, ...args], { databaseUrl: database.url });
    const csv = await toStandardOutput();
    expect(csv).toMatchObject({ code: 0, stdout: `id,name,categoryId,status\n0,Rex,${MIN},sold\n` });
    expect(csv.stderr).toMatch(/^1 exported in /);
    const ndjson = await toStandardOutput('-', '--format', 'ndjson');
    const json = await exportTo('--json');
    expect(json).toMatchObject({ code: 2, json: { error: { code: 'usage' } } });
    expect(ndjson.stdout).toBe(`{"id":0,"name":"Rex","categoryId":${MIN},"status":"sold"}\n`);
  });

  test('Export-5: an unknown project is refused, and no file appears', async () => {
    const before = await readdir(folder);
    const unknown = await run('toys', 'export', 'nobody', path('c.csv'), '--json');
    expect(unknown).toMatchObject({ code: 1, json: { error: { code: 'not_found' } } });
    const nowhere = await exportTo(join(folder, 'no', 'folder.csv'), '--json');
    expect(nowhere).toMatchObject({ code: 1, json: { error: { code: 'invalid_request' } } });
    expect(nowhere.stdout).not.toContain('.part');
    expect(await readdir(folder)).toEqual(before);
  });

  test('Export-6: an interrupted export leaves no file and no part of one', async () => {
    await addMany(1_000);
    // Each doubles the toys: enough that the export still runs when the signal arrives.
    for (let toys = 1_000; toys < 128_000; toys *= 2) {
      await db.execute(
        'INSERT INTO toys (project_id, id, name, category_id, status, created_at_ms) SELECT project_id, id + ?, name, category_id, status, 1 FROM toys WHERE project_id = ?',
        [toys * 3, projectId],
      );
    }
    const before = await readdir(folder);
    const ended = petstore(['toys', 'export', slug, path('d.csv'), '--json'], {
      databaseUrl: database.url,
      onStart: async (child) => {
        await eventually('a part', async () =>
          (await readdir(folder)).some((name) => name.endsWith('.part')),
        );
        child.kill('SIGINT');
      },
    });
    expect(await ended).toMatchObject({ code: 1, json: { complete: false, file: null } });
    expect(await readdir(folder)).toEqual(before);
  });
});

describe('the file of an export', () => {
  const PRECIOUS = 'the only copy of something\n';
  const CSV = /^id,name,categoryId,status\n\d+,Rex,1,\n$/;
  let database: TestDatabase;
  let folder: string;
  const exportTo = (...args: string[]) =>
    petstoreHere(['toys', 'export', 'shop', ...args], { databaseUrl: database.url });

  beforeAll(async () => {
    database = await createTestDatabase('sqlite');
    folder = await mkdtemp(join(tmpdir(), 'petstore-export-'));
    await petstoreHere(['projects', 'create', 'shop'], { databaseUrl: database.url });
    const csv = 'name,categoryId\nRex,1\n';
    await petstore(['toys', 'import', 'shop', '-'], { databaseUrl: database.url, input: csv });
  });
  afterAll(() => Promise.all([database.remove(), rm(folder, { recursive: true })]));

  test.each([
    ['a file', true, (at: string) => writeFile(at, PRECIOUS)],
    ['a folder', false, (at: string) => mkdir(at)],
    ['a link to a file', false, (at: string) => symlink(`${at}.target`, at)],
    ['a link to nothing', false, (at: string) => symlink(`${at}.nowhere`, at)],
  ])(
    'Export-7: %s at its path stays unchanged without --force, which replaces only a file',
    async (_, isReplaced, make) => {
      const path = join(folder, 'precious.csv');
      await writeFile(`${path}.target`, PRECIOUS);
      await make(path);
      const { ino } = await lstat(path);
      const refused = await exportTo(path, '--json');
      expect(refused).toMatchObject({ code: 1, json: { error: { code: 'conflict' } } });
      expect(refused.stdout).toContain('--force');
      expect((await lstat(path)).ino).toBe(ino);

      const forced = await exportTo(path, '--force');
      expect(forced.code).toBe(isReplaced ? 0 : 1);
      if (isReplaced) expect(await readFile(path, 'utf8')).toMatch(CSV);
      else expect((await lstat(path)).ino).toBe(ino);
      expect(await readFile(`${path}.target`, 'utf8')).toBe(PRECIOUS);
      expect(existsSync(`${path}.nowhere`)).toBe(false);
      await rm(path, { recursive: true });
      expect(await readdir(folder)).toEqual(['precious.csv.target']);
    },
  );

  test('Export-8: a full disk behind standard output is exit code 1, a reader that has enough is not', () => {
    const shell = (pipe: string) => {
      const command = `"$0" "$1" toys export shop ${pipe}`;
      const env = { ...process.env, DATABASE_URL: database.url };
      return spawnSync('sh', ['-c', command, process.execPath, MAIN], { cwd: FOLDER, env, encoding: 'utf8' });
    };
    expect(shell('> /dev/full')).toMatchObject({ status: 1, stderr: expect.stringContaining('ENOSPC') });
    expect(shell('| true; exit 0')).toMatchObject({
      status: 0,
      stderr: expect.not.stringContaining('EPIPE'),
    });
  });
});
