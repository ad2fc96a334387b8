import { type ChildProcess, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import {
  appendFile,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { loadConfig } from '../src/config.js';
import { Database } from '../src/database/database.js';
import { Pet } from '../src/pets/pet.entity.js';
import { PetImport } from '../src/pets/pet-import.entity.js';
import { createServices } from '../src/services.js';
import { rest } from './support/client.js';
import { petstore } from './support/command-line.js';
import { createTestDatabase, databaseKinds, type TestDatabase } from './support/databases.js';
import { eventually } from './support/eventually.js';
import { startGateway } from './support/gateway-process.js';
import { slowness } from './support/own-time.js';

const MIN = '-9223372036854775808';
const MAX = '9223372036854775807';
const ACTOR = { name: 'test', requestId: null };

describe.each(databaseKinds())('on %s', (kind) => {
  let database: TestDatabase;
  let db: Database;
  let folder: string;
  let slug: string;
  let projectId: bigint;
  let projects = 0;

  beforeAll(async () => {
    database = await createTestDatabase(kind);
    await petstore(['migrate'], { databaseUrl: database.url });
    db = await Database.open(loadConfig({ DATABASE_URL: database.url }).database);
    folder = await mkdtemp(join(tmpdir(), 'petstore-import-'));
  });
  afterAll(async () => {
    await db.close();
    await database.remove();
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    projects += 1;
    slug = `shop-${projects}`;
    const wanted = { slug, name: null, plan: 'ENTERPRISE', perMinute: 1e9, perDay: 1e9 } as const;
    projectId = (await createServices(db, Date.now).projects.create(ACTOR, wanted)).id;
  });

  const path = (name: string) => join(folder, `${slug}-${name}`);
  const file = async (name: string, content: string | Buffer) => {
    await writeFile(path(name), content);
    return path(name);
  };
  const run = (args: string[], input?: string, onStart?: (child: ChildProcess) => void) =>
    petstore(['pets', 'import', slug, ...args], {
      databaseUrl: database.url,
      cwd: folder,
      ...(input === undefined ? {} : { input }),
      ...(onStart ? { onStart } : {}),
    });
  const importJson = async (...args: string[]) => {
    const { code, json } = await run([...args, '--json']);
    return { code, ...json };
  };
  const pets = () => db.repository(Pet).find({ where: { projectId }, order: { id: 'ASC' } });
  const names = async () => (await pets()).map(({ name }) => name);
  const count = () => db.repository(Pet).countBy({ projectId });
  const refusedRows = async (of: string) =>
    (await readFile(of, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));

  test('Import-1: brings a CSV file in, whatever the order of its columns', async () => {
    const csv = await file(
      'a.csv',
      'status,extra,categoryId,name\nsold,x,3,Rex\n,y,-4,"Zoë, the ""2nd"" 😀"\n',
    );
    const ended = await importJson(csv);
    expect(ended).toEqual({
      code: 0,
      project: slug,
      file: `${slug}-a.csv`,
      imported: 2,
      refused: 0,
      refusedFile: null,
      resumedAtLine: null,
      complete: true,
      lastLine: 3,
      total: { imported: 2, refused: 0 },
      seconds: expect.any(Number),
      rowsPerSecond: expect.any(Number),
    });
    expect(await pets()).toMatchObject([
      { name: 'Rex', categoryId: 3n, status: 'sold' },
      { name: 'Zoë, the "2nd" 😀', categoryId: -4n, status: null },
    ]);
    expect(existsSync(`${csv}.refused.ndjson`)).toBe(false);
  });

  test('Import-2: refuses single rows with their line and reason, and imports all others', async () => {
    const lines = [
      'name,categoryId,status', // 1
      'Rex,1,sold',
      ',1,sold',
      '"two\nlines",1,', // 4 and 5
      'Rex,1.5,gone', // 6
      '"quoted',
      'CRLF",2,', // 7 and 8
      '', // 9
      'Rex,1', // 10
      'Rex,1,sold,more',
      `Rex,${MAX}8,`,
      '5" Rex,1,', // 13
      'Last,1,available',
      '"open,1,', // 15
    ];
    const csv = await file('b.csv', lines.join('\r\n').replace('two\nlines', 'two\r\nlines'));
    const ended = await importJson(csv);
    expect(ended).toMatchObject({
      code: 1,
      imported: 4,
      refused: 7,
      refusedFile: `${csv}.refused.ndjson`,
      complete: true,
    });
    expect(await names()).toEqual(['Rex', 'two\r\nlines', 'quoted\r\nCRLF', 'Last']);
    const refused = await refusedRows(`${csv}.refused.ndjson`);
    expect(
      refused.map(({ line, errors }) => [line, errors.map(({ field }: { field: string }) => field)]),
    ).toEqual([
      [3, ['name']],
      [6, ['categoryId', 'status']],
      [10, ['row']],
      [11, ['row']],
      [12, ['categoryId']],
      [13, ['row']],
      [15, ['row']],
    ]);
    expect(refused[1].row).toEqual({ name: 'Rex', categoryId: '1.5', status: 'gone' });
    expect(refused[0].errors[0].message).toMatch(/^must be text of 1 to 255 characters/);
  });

  test('Import-3: keeps categories exact over the whole int64 range', async () => {
    const rows = [MIN, MAX, '9007199254740993', '0', '-1'];
    await importJson(await file('c.csv', `name,categoryId\n${rows.map((id) => `Rex,${id}`).join('\n')}`));
    await importJson(
      await file('c.ndjson', rows.map((id) => `{"name":"Rex","categoryId":${id}}`).join('\n')),
    );
    const categories = (await pets()).map(({ categoryId }) => String(categoryId));
    expect(categories).toEqual([...rows, ...rows]);
    const beyond = await importJson(await file('d.ndjson', `{"name":"Rex","categoryId":${MAX}0}\n`));
    expect(beyond).toMatchObject({ code: 1, imported: 0, refused: 1 });
    expect(await readFile(beyond.refusedFile, 'utf8')).toContain(
      `"row":{"name":"Rex","categoryId":${MAX}0}}`,
    );
  });

  test('Import-4: NDJSON and CSV of the same pets give the same pets, and refuse the same ones', async () => {
    const rows = [
      { name: '😀🐕‍🦺𠮷', categoryId: 1, status: 'available' },
      { name: 'e\u0301 "q" \\ \n tab\t', categoryId: 2 },
      { name: ' ', categoryId: 3 },
      { name: '𝒳'.repeat(255), categoryId: 4, status: 'sold' },
      { name: 'x'.repeat(256), categoryId: 5 },
      { name: 'Rex', categoryId: 6, status: 'Sold' },
    ];
    const quoted = (text = '') => `"${text.replaceAll('"', '""')}"`;
    const csv = rows.map(
      ({ name, categoryId, status }) => `${quoted(name)},${categoryId},${quoted(status)}\n`,
    );
    const fromCsv = await importJson(await file('e.csv', `\uFEFFname,categoryId,status\n${csv.join('')}`));
    const ofCsv = (await pets()).map(({ name, categoryId, status }) => ({ name, categoryId, status }));
    await db.repository(Pet).delete({ projectId });
    const ndjson = rows.map((row) => JSON.stringify(row)).join('\r\n\r\n');
    const fromNdjson = await importJson(await file('e.ndjson', `\uFEFF${ndjson}`));
    const ofNdjson = (await pets()).map(({ name, categoryId, status }) => ({ name, categoryId, status }));
    expect(ofNdjson).toEqual(ofCsv);
    expect(ofCsv.map(({ name }) => name)).toEqual([0, 1, 3].map((at) => rows[at]?.name));
    expect(fromCsv).toMatchObject({ imported: 3, refused: 3 });
    expect(fromNdjson).toMatchObject({ imported: 3, refused: 3 });
    const errors = async (of: string) => (await refusedRows(of)).map(({ errors }) => errors);
    expect(await errors(fromNdjson.refusedFile)).toEqual(await errors(fromCsv.refusedFile));
  });

  test('Import-5: refuses what is no object, no JSON, no UTF-8 or too long, each by its line', async () => {
    const lines = [
      '{"name":"A","categoryId":1}',
      '[1]',
      '{"name":',
      '',
      'null',
      `{"name":"${'x'.repeat(200_000)}"}`,
      'LATIN1',
      '{"name":"B","categoryId":2,"__proto__":{"status":"sold"}}',
    ];
    const [before = '', after = ''] = lines.join('\n').split('LATIN1');
    const latin1 = Buffer.from('{"name":"Zo\xeb","categoryId":1}', 'latin1');
    const ndjson = await file('f.ndjson', Buffer.concat([Buffer.from(before), latin1, Buffer.from(after)]));
    const ended = await importJson(ndjson);
    expect(ended).toMatchObject({ code: 1, imported: 2, refused: 5 });
    expect((await refusedRows(ended.refusedFile)).map(({ line }) => line)).toEqual([2, 3, 5, 6, 7]);
    expect(await pets()).toMatchObject([{ name: 'A' }, { name: 'B', status: null }]);
  });

  test.each([
    ['an empty file', '', 'empty'],
    ['a header without a needed column', 'name,status\nRex,sold\n', 'lacks categoryId'],
    ['a header in other letters', 'Name,CategoryId\nRex,1\n', 'lacks name and categoryId'],
    ['semicolons', 'name;categoryId\nRex;1\n', 'commas'],
    ['a column named twice', 'name,name,categoryId\nRex,Rex,1\n', 'name twice'],
    ['UTF-16', Buffer.from('\uFEFFname,categoryId\nRex,1\n', 'utf16le'), 'UTF-8'],
  ])('Import-6: refuses %s before anything is written', async (_, content, reason) => {
    const { code, json } = await run([await file('g.csv', content), '--json']);
    expect(code).toBe(1);
    expect(json.error).toMatchObject({ code: 'invalid_request', message: expect.stringContaining(reason) });
    expect(await count()).toBe(0);
    expect(await db.repository(PetImport).countBy({ projectId })).toBe(0);
  });

  test('Import-7: refuses a file that is not there, a folder and an unknown project', async () => {
    expect((await run([path('nothing.csv'), '--json'])).json.error.code).toBe('not_found');
    expect((await run([folder, '--json'])).json.error.code).toBe('invalid_request');
    const csv = await file('h.csv', 'name,categoryId\nRex,1\n');
    const unknown = await petstore(['pets', 'import', 'nobody', csv, '--json'], {
      databaseUrl: database.url,
    });
    expect(unknown).toMatchObject({ code: 1, json: { error: { code: 'not_found' } } });
  });

  test('Import-8: reads standard input, tells CSV from NDJSON, and reports to --refused', async () => {
    const csv = await run(['-', '--json'], 'name,categoryId\nRex,1\n');
    expect(csv).toMatchObject({ code: 0, json: { imported: 1, file: '-' } });
    const report = path('refused');
    const ndjson = await run(['-', '--json', '--refused', report], '\n {"name":"Luna","categoryId":2}\n{}\n');
    expect(ndjson).toMatchObject({ code: 1, json: { imported: 1, refused: 1, refusedFile: report } });
    expect((await refusedRows(report)).map(({ line }) => line)).toEqual([3]);
    expect(await names()).toEqual(['Rex', 'Luna']);
    expect(await db.repository(PetImport).countBy({ projectId })).toBe(0);
  });

  test('Import-9: tells a person each refused row, up to a number, and where all of them are', async () => {
    const csv = await file('i.csv', `name,categoryId\n${'Rex,x\n'.repeat(50)}Rex,1\n`);
    const { code, stdout, stderr } = await run([csv]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^line 2: categoryId must be an integer/);
    expect(stderr.match(/^line /gm)).toHaveLength(20);
    expect(stderr).toContain(`${csv}.refused.ndjson`);
    expect(stderr).not.toContain('\r');
    expect(stdout).toMatch(/^1 imported, 50 refused in /);
    expect(await refusedRows(`${csv}.refused.ndjson`)).toHaveLength(50);
  });

  const REFUSING = 'name,categoryId\nRex,1\nLuna,x\n';
  const PRECIOUS = 'the only copy of something\n';

  test.each([
    ['a file', (at: string) => writeFile(at, PRECIOUS)],
    ['an empty file', (at: string) => writeFile(at, '')],
    ['a folder', (at: string) => mkdir(at)],
    ['a link to a file', (at: string) => symlink(`${at}.target`, at)],
    ['a link that leads nowhere', (at: string) => symlink(`${at}.nowhere`, at)],
  ])(
    'Import-18: refuses %s where the report would go, touches nothing, and says what to do',
    async (_, make) => {
      const report = path('precious');
      await writeFile(`${report}.target`, PRECIOUS);
      await make(report);
      const before = await lstat(report);
      for (const [name, content] of [
        ['p.csv', REFUSING],
        ['q.csv', 'name,categoryId\nRex,1\n'],
      ] as const) {
        const source = await file(name, content);
        for (const args of [[source], [source, '--restart'], ['-']]) {
          const { code, json } = await run([...args, '--refused', report, '--json'], content);
          expect(code).toBe(1);
          expect(json.error).toEqual({ code: 'conflict', message: expect.stringContaining('--refused') });
        }
      }
      expect(await count()).toBe(0);
      expect(await lstat(report)).toMatchObject({
        ino: before.ino,
        size: before.size,
        mtimeMs: before.mtimeMs,
      });
      expect(await readFile(`${report}.target`, 'utf8')).toBe(PRECIOUS);
      expect(existsSync(`${report}.nowhere`)).toBe(false);
      await rm(report, { recursive: true });
    },
  );

  test('Import-19: replaces its own report of an earlier import, and no longer once somebody has changed it', async () => {
    const source = await file('r.csv', REFUSING);
    const report = `${source}.refused.ndjson`;
    await importJson(source);
    await file('r.csv', REFUSING.repeat(2));
    expect(await importJson(source)).toMatchObject({ complete: true, refused: 3, refusedFile: report });
    expect((await refusedRows(report)).map(({ line }) => line)).toEqual([3, 4, 6]);
    await appendFile(report, PRECIOUS);
    expect((await run([source, '--json'])).json.error.code).toBe('conflict');
    expect(await readFile(report, 'utf8')).toContain(PRECIOUS);
    await rm(report);
    await file('r.csv', 'name,categoryId\nRex,1\n');
    expect(await importJson(source)).toMatchObject({ code: 0, refusedFile: null });
    await writeFile(report, '');
    expect((await run([source, '--json'])).json.error.code).toBe('conflict');
    expect(existsSync(report)).toBe(true);
  });

  describe('interrupted', () => {
    const ROWS = 40_000;
    /** Every 100th row is refused, so that the report must be continued as well. */
    const content = (format: string) => {
      const rows = Array.from({ length: ROWS }, (_, at) => ({
        name: `Pet ${at}`,
        categoryId: at % 100 === 7 ? 'x' : at,
      }));
      if (format === 'ndjson') return rows.map((row) => JSON.stringify(row)).join('\n');
      return `name,categoryId\n${rows.map(({ name, categoryId }) => `"${name}",${categoryId}\n`).join('')}`;
    };
    const isUnderWay = async () => (await count()) > 0 && (await count()) < ROWS / 2;
    const kill = async (of: string, signal: NodeJS.Signals, args: string[] = []) => {
      let child: ChildProcess | undefined;
      const ended = run([of, ...args, '--json'], '', (started) => {
        child = started;
      });
      const before = await count();
      await eventually('more rows', async () => (await count()) > before);
      child?.kill(signal);
      return ended;
    };

    test.each(['csv', 'ndjson'])(
      'Import-10: goes on after SIGKILL, again and again, without loss or repetition (%s)',
      async (format) => {
        const source = await file(`j.${format}`, content(format));
        const first = await kill(source, 'SIGKILL');
        expect(first.code).toBeNull();
        expect(await isUnderWay()).toBe(true);

        const refused = await run([source, '--json']);
        expect(refused.code).toBe(1);
        expect(refused.json.error.message).toMatch(/--resume.*--restart/);

        const [{ line: stoppedAt = 0, imported: before = 0 } = {}] = await db
          .repository(PetImport)
          .findBy({ projectId });
        await kill(source, 'SIGKILL', ['--resume']);
        const [{ line = 0, imported = 0 } = {}] = await db.repository(PetImport).findBy({ projectId });
        expect(line).toBeGreaterThan(stoppedAt);
        expect(imported).toBeGreaterThan(before);
        expect(await count()).toBe(imported);
        // As if the process had died between the report and the commit.
        await appendFile(`${source}.refused.ndjson`, '{"line":99999999,"errors":[],"row":nul');

        const last = await importJson(source, '--resume');
        expect(last).toMatchObject({
          code: 1,
          complete: true,
          resumedAtLine: line + 1,
          imported: ROWS * 0.99 - imported,
          total: { imported: ROWS * 0.99, refused: ROWS * 0.01 },
        });
        const wanted = Array.from({ length: ROWS }, (_, at) => at).filter((at) => at % 100 !== 7);
        expect(await names()).toEqual(wanted.map((at) => `Pet ${at}`));
        const shift = format === 'csv' ? 2 : 1;
        const lines = (await refusedRows(last.refusedFile)).map(({ line }) => line);
        expect(lines).toEqual(Array.from({ length: ROWS / 100 }, (_, at) => at * 100 + 7 + shift));

        const again = await importJson(source, '--resume');
        expect(again).toMatchObject({ code: 1, imported: 0, complete: true });
        expect(await count()).toBe(ROWS * 0.99);
      },
    );

    test('Import-11: refuses to go on with a file that has changed; --restart imports it as a whole', async () => {
      const source = await file('k.csv', content('csv'));
      await kill(source, 'SIGKILL');
      await appendFile(source, 'One more,1\n');
      const changed = await run([source, '--resume', '--json']);
      expect(changed.code).toBe(1);
      expect(changed.json.error).toEqual({
        code: 'conflict',
        message: expect.stringContaining('has changed'),
      });
      const before = await count();
      expect(await importJson(source, '--restart')).toMatchObject({
        complete: true,
        imported: ROWS * 0.99 + 1,
      });
      expect(await count()).toBe(before + ROWS * 0.99 + 1);
      expect(await importJson(source)).toMatchObject({ complete: true, resumedAtLine: null });
    });

    test('Import-12: --resume without an earlier import is refused, under another name too', async () => {
      const source = await file('l.csv', content('csv'));
      await kill(source, 'SIGKILL');
      await rename(source, path('m.csv'));
      const { code, json } = await run([path('m.csv'), '--resume', '--json']);
      expect(code).toBe(1);
      expect(json.error.message).toContain('Leave out --resume');
    });

    test('Import-13: Ctrl-C ends after the batch in hand, with exit code 1 and the way to go on', async () => {
      const source = await file('n.csv', content('csv'));
      const stopped = await kill(source, 'SIGINT');
      expect(stopped).toMatchObject({ code: 1, json: { complete: false } });
      expect(await count()).toBe(stopped.json.imported);
      expect(await isUnderWay()).toBe(true);
      const { json } = await run([source, '--resume', '--json']);
      expect(json).toMatchObject({ complete: true, resumedAtLine: stopped.json.lastLine + 1 });
      expect(await count()).toBe(ROWS * 0.99);
    });

    test('Import-14: a resumed import takes the file away from one that still runs', async () => {
      const source = await file('o.csv', content('csv'));
      const first = run([source, '--json']);
      await eventually('rows', async () => (await count()) > 0);
      const second = await importJson(source, '--resume');
      const { code, json } = await first;
      expect(code).toBe(1);
      const winner = second.error ? json : second;
      const loser = second.error ? second : json;
      expect(winner).toMatchObject({ complete: true });
      expect(loser.error?.code ?? 'complete').toMatch(/conflict|complete/);
      expect(await count()).toBe(ROWS * 0.99);
    });
  });
});

describe('a large file on SQLite', () => {
  const ROWS = 200_000;
  const MEMORY_BYTES = 200_000_000;
  /** A tenth of what a development machine does. */
  const ROWS_PER_SECOND = 10_000;
  let database: TestDatabase;
  let csv: string;
  let token: string;

  const run = (args: string[], onStart: (child: ChildProcess) => void = () => {}) =>
    petstore([...args, '--json'], { databaseUrl: database.url, onStart });
  const stored = async () => {
    const db = await Database.open(loadConfig({ DATABASE_URL: database.url }).database);
    const rows = await db.repository(Pet).count();
    await db.close();
    return rows;
  };

  beforeAll(async () => {
    database = await createTestDatabase('sqlite');
    const quotas = ['--plan', 'enterprise', '--per-minute', '1000000', '--per-day', '1000000'];
    await run(['projects', 'create', 'shop', ...quotas]);
    token = (await run(['keys', 'create', 'shop'])).json.key;
    csv = join(database.url.slice('sqlite:'.length), '..', 'large.csv');
    const rows = Array.from(
      { length: ROWS },
      (_, at) => `Bella the ${at}th,${at % 50},${at % 2 ? 'sold' : ''}\n`,
    );
    await writeFile(csv, `name,categoryId,status\n${rows.join('')}`);
  });
  afterAll(() => database.remove());

  test('Import-15: is imported fast and in bounded memory', async () => {
    let peakBytes = 0;
    let timer: NodeJS.Timeout | undefined;
    const pace = await slowness();
    const { code, json } = await run(['pets', 'import', 'shop', csv], (child) => {
      timer = setInterval(() => {
        peakBytes = Math.max(peakBytes, residentBytes(child));
      }, 50);
    });
    clearInterval(timer);
    expect(code).toBe(0);
    expect(json.imported).toBe(ROWS);
    expect(json.rowsPerSecond * Math.max(pace, await slowness())).toBeGreaterThan(ROWS_PER_SECOND);
    expect(peakBytes).toBeGreaterThan(0);
    expect(peakBytes).toBeLessThan(MEMORY_BYTES);
    expect(await stored()).toBe(ROWS);
  });

  test('Import-16: a gateway on the same file answers every write meanwhile, none of them late', async () => {
    const gateway = await startGateway({ env: { DATABASE_URL: database.url } });
    const before = await stored();
    const pace = await slowness();
    let isOver = false;
    const answers: { status: number; tookMs: number }[] = [];
    const writers = [1, 2, 3, 4].map(async (at) => {
      while (!isOver) {
        const startedAtMs = performance.now();
        const body = { name: `Writer ${at}`, categoryId: 1 };
        const { status } = await rest(gateway.url, '/v1/pets', { method: 'POST', token, body });
        answers.push({ status, tookMs: performance.now() - startedAtMs });
      }
    });
    const { code } = await run(['pets', 'import', 'shop', csv]);
    isOver = true;
    await Promise.all(writers);
    await gateway.kill('SIGKILL');
    expect(code).toBe(0);
    expect(answers.length).toBeGreaterThan(20);
    expect(answers.filter(({ status }) => status !== 201)).toEqual([]);
    const slowestMs = Math.max(...answers.map(({ tookMs }) => tookMs));
    expect(slowestMs).toBeLessThan(2_000 * Math.max(pace, await slowness()));
    expect(await stored()).toBe(before + ROWS + answers.length);
  });

  test('Import-20: long rows that are all refused are imported in bounded memory', async () => {
    // Each of them is six times as long in the report.
    const row = `${'\u0001'.repeat(99_000)},1\n`;
    const source = `${csv}.long.csv`;
    await writeFile(source, `name,categoryId\n${row.repeat(300)}`);
    const { code, json } = await run(['pets', 'import', 'shop', source]);
    await rm(source);
    await rm(`${source}.refused.ndjson`, { force: true });
    expect(code).toBe(1);
    expect(json).toMatchObject({ refused: 300, complete: true });
  });

  test('Import-17: waits while another process holds the write lock, instead of failing', async () => {
    const other = await Database.open(loadConfig({ DATABASE_URL: database.url }).database);
    const before = await stored();
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const holding = other.transaction(async (manager) => {
      await manager.query('UPDATE pets SET status = NULL WHERE id = 0');
      await held;
    });
    const pet = 'name,categoryId\nRex,1\n';
    await writeFile(`${csv}.one.csv`, pet);
    const importing = run(['pets', 'import', 'shop', `${csv}.one.csv`], (child) =>
      child.stderr?.on('data', (text) => {
        if (String(text).includes('Waiting for it')) release();
      }),
    );
    const { code, json } = await importing;
    await holding;
    await other.close();
    expect({ code, imported: json.imported }).toEqual({ code: 0, imported: 1 });
    expect(await stored()).toBe(before + 1);
  });
});

function residentBytes(child: ChildProcess): number {
  try {
    return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(child.pid)])) * 1024;
  } catch {
    // It has just ended.
    return 0;
  }
}
