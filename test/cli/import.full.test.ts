import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, lstat, mkdir, readFile, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { parse as parseCsv } from 'csv-parse/sync';
import { loadConfig } from '../../src/ground/config/config.js';
import { Database } from '../../src/ground/database/database.js';
import { FileImport } from '../../src/tenants/files/import.entity.js';
import { petstore, petstoreHere, workFolder } from '../support/command-line.js';
import { createTestDatabase, databaseKinds, type TestDatabase } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { createServices, DATABASE_SCHEMA } from '../support/gateway/tested-gateway.js';
import { Toy } from '../support/nouns/toys.js';

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
    await petstoreHere(['migrate'], { databaseUrl: database.url });
    db = await Database.open(loadConfig({ DATABASE_URL: database.url }).database, DATABASE_SCHEMA);
    folder = await workFolder();
  });
  afterAll(async () => {
    await db.close();
    await database.remove();
    await rm(dirname(folder), { recursive: true, force: true });
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
  /** In a separate process. */
  const run = (args: string[], input = '', onStart: (child: ChildProcess) => void = () => {}) =>
    petstore(['toys', 'import', slug, ...args], { databaseUrl: database.url, cwd: folder, input, onStart });
  const runHere = (args: string[], input = '') =>
    petstoreHere(['toys', 'import', slug, ...args], { databaseUrl: database.url, input });
  const importJson = async (...args: string[]) => {
    const { code, json } = await runHere([...args, '--json']);
    return { code, ...json };
  };
  const toys = () => db.repository(Toy).find({ where: { projectId }, order: { id: 'ASC' } });
  /** In pages: the gateway refuses a longer answer of MySQL. */
  const names = async (): Promise<string[]> => {
    const all: string[] = [];
    for (let isLast = false; !isLast; ) {
      const order = { id: 'ASC' } as const;
      const page = await db
        .repository(Toy)
        .find({ where: { projectId }, order, skip: all.length, take: 10_000 });
      all.push(...page.map(({ name }) => name));
      isLast = page.length < 10_000;
    }
    return all;
  };
  const count = () => db.repository(Toy).countBy({ projectId });
  /** The rows of a file of refused rows, each with the line number of its problem. */
  const refusedRows = async (of: string) => {
    const text = await readFile(of, 'utf8');
    const lines = () => text.trimEnd().split('\n');
    const rows: { name?: string; problem?: string }[] = of.endsWith('.csv')
      ? parseCsv(text, { columns: true })
      : lines().map((line) => JSON.parse(line));
    return rows.map((row) => ({ ...row, line: Number(/^line (\d+): /.exec(row.problem ?? '')?.[1]) }));
  };
  const refusedLines = async (of: string) => (await refusedRows(of)).map(({ line }) => line);

  test('Import-60: a file of which nothing is imported ends with 1 and the reason', async () => {
    const header = await file('header.csv', 'name,categoryId\r');
    const { code, stdout } = await runHere([header]);
    expect([code, stdout]).toEqual([
      1,
      expect.stringContaining(`Nothing was imported: ${header} has no rows.`),
    ]);
    expect(await importJson(await file('none.ndjson', '\r\r'))).toMatchObject({ code: 1, imported: 0 });
    const ofMac = await file('mac.csv', 'name,categoryId\rRex,1\rMax,2\r');
    expect(await importJson(ofMac)).toMatchObject({ code: 0, imported: 2, lastLine: 3 });
    expect(await names()).toEqual(['Rex', 'Max']);
  });

  test('Import-1: a CSV file is imported, whatever the order of its columns', async () => {
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
    expect(await toys()).toMatchObject([
      { name: 'Rex', categoryId: 3n, status: 'sold' },
      { name: 'Zoë, the "2nd" 😀', categoryId: -4n, status: null },
    ]);
    expect(existsSync(path('a.refused.csv'))).toBe(false);
  });

  test('Import-2: an invalid row is refused with its line and reason, and all other rows are imported', async () => {
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
      refusedFile: path('b.refused.csv'),
      complete: true,
    });
    expect(await names()).toEqual(['Rex', 'two\r\nlines', 'quoted\r\nCRLF', 'Last']);
    const refused = [
      { line: 3, name: '', categoryId: '1', status: 'sold', problem: /: name must be text of 1 to 255 char/ },
      {
        line: 6,
        name: 'Rex',
        categoryId: '1.5',
        status: 'gone',
        problem: /: categoryId must .*; status must/,
      },
      { line: 10, name: 'Rex,1', categoryId: '', status: '', problem: /: row has 2 fields/ },
      { line: 11, name: 'Rex,1,sold,more', categoryId: '', status: '', problem: /: row has 4 fields/ },
      { line: 12, name: 'Rex', categoryId: `${MAX}8`, status: '', problem: /: categoryId must/ },
      { line: 13, name: '5" Rex,1,', categoryId: '', status: '', problem: /: row has an unclosed quote/ },
      { line: 15, name: '"open,1,', categoryId: '', status: '', problem: /: row has an unclosed quote/ },
    ];
    expect(await refusedRows(path('b.refused.csv'))).toEqual(
      refused.map((row) => ({ ...row, problem: expect.stringMatching(row.problem) })),
    );
  });

  test('Import-3: categories are exact over the whole int64 range', async () => {
    const rows = [MIN, MAX, '9007199254740993', '0', '-1'];
    await importJson(await file('c.csv', `name,categoryId\n${rows.map((id) => `Rex,${id}`).join('\n')}`));
    await importJson(
      await file('c.ndjson', rows.map((id) => `{"name":"Rex","categoryId":${id}}`).join('\n')),
    );
    const categories = (await toys()).map(({ categoryId }) => String(categoryId));
    expect(categories).toEqual([...rows, ...rows]);
    const beyond = await importJson(await file('d.ndjson', `{"name":"Rex","categoryId":${MAX}0}\n`));
    expect(beyond).toMatchObject({ code: 1, imported: 0, refused: 1 });
    expect(await readFile(beyond.refusedFile, 'utf8')).toContain(`,"name":"Rex","categoryId":${MAX}0}`);
  });

  test('Import-4: NDJSON and CSV of the same toys give the same toys and the same refusals', async () => {
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
    const ofCsv = (await toys()).map(({ name, categoryId, status }) => ({ name, categoryId, status }));
    await db.repository(Toy).delete({ projectId });
    const ndjson = rows.map((row) => JSON.stringify(row)).join('\r\n\r\n');
    const fromNdjson = await importJson(await file('e.ndjson', `\uFEFF${ndjson}`));
    const ofNdjson = (await toys()).map(({ name, categoryId, status }) => ({ name, categoryId, status }));
    expect(ofNdjson).toEqual(ofCsv);
    expect(ofCsv.map(({ name }) => name)).toEqual([0, 1, 3].map((at) => rows[at]?.name));
    expect(fromCsv).toMatchObject({ imported: 3, refused: 3 });
    expect(fromNdjson).toMatchObject({ imported: 3, refused: 3 });
    const reasons = async (of: string) =>
      (await readFile(of, 'utf8'))
        .match(/line \d+: [^"\n]*/g)
        ?.map((text) => text.replace(/^line \d+: | \(got .*$/g, ''));
    expect(await reasons(fromNdjson.refusedFile)).toEqual(await reasons(fromCsv.refusedFile));
  });

  test('Import-5: a line that is no object, no JSON, no UTF-8 or too long is refused by its number', async () => {
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
    expect(await refusedLines(ended.refusedFile)).toEqual([2, 3, 5, 6, 7]);
    expect(await toys()).toMatchObject([{ name: 'A' }, { name: 'B', status: null }]);
  });

  test.each([
    ['an empty file', '', 'empty'],
    ['a header without a needed column', 'name,status\nRex,sold\n', 'lacks categoryId'],
    ['a header in other letters', 'Name,CategoryId\nRex,1\n', 'lacks name and categoryId'],
    ['semicolons', 'name;categoryId\nRex;1\n', 'commas'],
    ['a column named twice', 'name,name,categoryId\nRex,Rex,1\n', 'name twice'],
    ['a file of 201 columns', `name,categoryId${','.repeat(199)}\nx\n`, 'has 201 columns'],
    ['UTF-16', Buffer.from('\uFEFFname,categoryId\nRex,1\n', 'utf16le'), 'UTF-8'],
  ])('Import-6: %s is refused before anything is written', async (_, content, reason) => {
    const { code, json } = await runHere([await file('g.csv', content), '--json']);
    expect(code).toBe(1);
    expect(json.error).toMatchObject({ code: 'invalid_request', message: expect.stringContaining(reason) });
    expect(await count()).toBe(0);
    expect(await db.repository(FileImport).countBy({ projectId })).toBe(0);
  });

  test('Import-45: a stray quote before 90,000 blank lines costs only itself, and no minutes', async () => {
    const csv = await file('blank.csv', `name,categoryId\n"\n${'\n'.repeat(90_000)}a"b\nRex,1\n`);
    const ended = await importJson(csv);
    expect(ended).toMatchObject({ imported: 1, refused: 2 });
    expect(await refusedLines(ended.refusedFile)).toEqual([2, 90_003]);
  });

  test('Import-7: a missing file, a folder and an unknown project are refused', async () => {
    expect((await runHere([path('nothing.csv'), '--json'])).json.error.code).toBe('not_found');
    expect((await runHere([folder, '--json'])).json.error.code).toBe('invalid_request');
    const csv = await file('h.csv', 'name,categoryId\nRex,1\n');
    const unknown = await petstoreHere(['toys', 'import', 'nobody', csv, '--json'], {
      databaseUrl: database.url,
    });
    expect(unknown).toMatchObject({ code: 1, json: { error: { code: 'not_found' } } });
  });

  test('Import-8: standard input is read as CSV or NDJSON by its content, and reported to --refused', async () => {
    const csv = await run(['-', '--json'], 'name,categoryId\nRex,1\n');
    expect(csv).toMatchObject({ code: 0, json: { imported: 1, file: '-' } });
    const report = path('refused');
    const ndjson = await run(['-', '--json', '--refused', report], '\n {"name":"Luna","categoryId":2}\n{}\n');
    expect(ndjson).toMatchObject({ code: 1, json: { imported: 1, refused: 1, refusedFile: report } });
    expect(await refusedLines(report)).toEqual([3]);
    expect(await names()).toEqual(['Rex', 'Luna']);
    expect(await db.repository(FileImport).countBy({ projectId })).toBe(0);
  });

  test('Import-9: a person sees the first refused rows, and where all of them are', async () => {
    const csv = await file('i.csv', `name,categoryId\n${'Rex,x\n'.repeat(50)}Rex,1\n`);
    const { code, stdout, stderr } = await run([csv]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^line 2: categoryId must be an integer/);
    expect(stderr.match(/^line /gm)).toHaveLength(20);
    expect(stderr).toContain(path('i.refused.csv'));
    expect(stderr).not.toContain('\r');
    expect(stdout).toMatch(/^1 imported, 50 refused in /);
    expect(stdout).toContain(`petstore toys import ${slug} ${path('i.refused.csv')}`);
    expect(await refusedRows(path('i.refused.csv'))).toHaveLength(50);
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
    'Import-18: %s at the path of the report stays unchanged, and the refusal says what to do',
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
        const to = ['--refused', report, '--json'];
        const ended = await Promise.all([
          runHere(['-', ...to], content),
          runHere([source, ...to]),
          runHere([source, '--restart', ...to]),
          runHere([source, '--again', ...to]),
        ]);
        for (const { code, json } of ended) {
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

  test('Import-19: a file of refused rows replaces the earlier one of the same import, unless that was changed since', async () => {
    const source = await file('r.csv', REFUSING);
    const refused = path('r.refused.csv');
    await importJson(source);
    await file('r.csv', REFUSING.repeat(2));
    expect(await importJson(source)).toMatchObject({ complete: true, refused: 3, refusedFile: refused });
    expect(await refusedLines(refused)).toEqual([3, 4, 6]);

    // A correction of the same size.
    const corrected = (await readFile(refused, 'utf8')).replaceAll(',x,', ',2,');
    await writeFile(refused, corrected);
    // No person is as fast as this test: the clock of a file system has steps of some milliseconds.
    const later = new Date(Date.now() + 1_000);
    await utimes(refused, later, later);
    await file('r.csv', REFUSING.repeat(3));
    expect((await runHere([source, '--json'])).json.error.code).toBe('conflict');
    expect(await readFile(refused, 'utf8')).toBe(corrected);
    await rm(refused);
    await file('r.csv', 'name,categoryId\nLuna,1\n');
    expect(await importJson(source)).toMatchObject({ code: 0, refusedFile: null });
    await writeFile(refused, '');
    expect((await runHere([source, '--again', '--json'])).json.error.code).toBe('conflict');
    expect(existsSync(refused)).toBe(true);
  });

  test.each(['csv', 'ndjson'])(
    'Import-21: refused rows come back as a file that an import accepts once they are corrected (%s)',
    async (format) => {
      const csv = [
        'note,name,categoryId',
        ' a ,"=1+1, ""x""",x',
        '"b\nc",Rex,1.5',
        'only one',
        '5" Rex,1,',
        `d,Luna,${MAX}9`,
      ];
      const ndjson = [
        `{ "note":" a ", "name":"=1+1, \\"x\\"", "categoryId":"x", "big":${MAX}9, "float":1.50 }`,
        '{"problem":"of the owner","name":"Rex","categoryId":1.5}',
        '[1]',
        '{"name":',
        '{}',
      ];
      const source = await file(`s.${format}`, (format === 'csv' ? csv : ndjson).join('\n'));
      const first = await importJson(source);
      expect(first).toMatchObject({ code: 1, imported: 0, refused: 5 });
      expect(first.refusedFile).toBe(path(`s.refused.${format}`));
      const text = await readFile(first.refusedFile, 'utf8');
      const lines = text.split('\n');
      if (format === 'csv') {
        expect(lines[0]).toBe('note,name,categoryId,problem');
        expect(lines[1]).toMatch(/^" a ","=1\+1, ""x""",x,"line 2: categoryId must be an integer/);
      } else {
        expect(lines[0]).toMatch(/^\{"problem":"line 1: .*"float":1\.50\}$/);
        expect(lines[0]).toContain(
          `,"note":" a ", "name":"=1+1, \\"x\\"", "categoryId":"x", "big":${MAX}9, `,
        );
        expect(text).not.toContain('of the owner');
      }

      // Uncorrected they are refused again, and come back unchanged.
      const second = await importJson(first.refusedFile);
      expect(second).toMatchObject({ code: 1, imported: 0, refused: 5 });
      const names = (rows: { name?: string }[]) => rows.map(({ name }) => name);
      const before = await refusedRows(first.refusedFile);
      expect(names(await refusedRows(second.refusedFile))).toEqual(names(before));

      const corrected = text
        .replace('"categoryId":"x"', '"categoryId":7')
        .replace('"categoryId":1.5', '"categoryId":7')
        .replace(',x,"line', ',7,"line')
        .replace(',1.5,', ',7,');
      await writeFile(first.refusedFile, corrected);
      expect(await importJson(first.refusedFile)).toMatchObject({ imported: 2, refused: 3 });
      expect(await toys()).toMatchObject([
        { name: '=1+1, "x"', categoryId: 7n },
        { name: 'Rex', categoryId: 7n },
      ]);
    },
  );

  test('Import-22: rows that were imported before are refused without --again, whatever the file is called', async () => {
    const content = 'name,categoryId\nRex,1\nLuna,2\n';
    const source = await file('t.csv', content);
    await importJson(source);
    const isRefused = async (of: string, ...args: string[]) => {
      const { code, json } = await runHere([of, ...args, '--json']);
      expect(code).toBe(1);
      expect(json.error).toEqual({
        code: 'conflict',
        message: expect.stringMatching(/before, at .*Z \(toys: 2\)\. Use --again/),
      });
    };
    await isRefused(source);
    await isRefused(source, '--restart');
    await isRefused(await file('copy.csv', content));
    // A byte in the middle makes another content.
    await file('t.csv', content.replace('1', '3'));
    expect(await importJson(source)).toMatchObject({ code: 0, imported: 2 });
    await file('t.csv', content);
    await isRefused(source);
    expect(await names()).toEqual(['Rex', 'Luna', 'Rex', 'Luna']);

    expect(await importJson(source, '--again')).toMatchObject({ code: 0, imported: 2 });
    expect(await count()).toBe(6);
    await isRefused(source);
    // No toy came from it, so nothing would be repeated.
    const refused = await file('u.csv', 'name,categoryId\nRex,x\n');
    for (const _ of [1, 2]) expect(await importJson(refused)).toMatchObject({ imported: 0, refused: 1 });
  });

  test('Import-23: a file of refused rows whose name says the other format is wrong usage', async () => {
    const source = await file('v.csv', REFUSING);
    const { code, json } = await runHere([source, '--refused', path('v.ndjson'), '--json']);
    expect(code).toBe(2);
    expect(json.error).toEqual({ code: 'usage', message: expect.stringContaining('is csv') });
    expect(await count()).toBe(0);
  });

  describe('interrupted', () => {
    const ROWS = 40_000;
    /** Every 100th row is refused, so that a resumed import must continue the report too. */
    const content = (format: string) => {
      const rows = Array.from({ length: ROWS }, (_, at) => ({
        name: `Toy ${at}`,
        categoryId: at % 100 === 7 ? 'x' : at,
      }));
      if (format === 'ndjson') return rows.map((row) => JSON.stringify(row)).join('\n');
      return `name,categoryId\n${rows.map(({ name, categoryId }) => `"${name}",${categoryId}\n`).join('')}`;
    };
    const isUnderWay = async () => (await count()) > 0 && (await count()) < ROWS * 0.99;
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
      'Import-10: after SIGKILL, several times, an import resumes without loss or repetition (%s)',
      async (format) => {
        const source = await file(`j.${format}`, content(format));
        const first = await kill(source, 'SIGKILL');
        expect(first.code).toBeNull();
        expect(await isUnderWay()).toBe(true);

        const refused = await runHere([source, '--json']);
        expect(refused.code).toBe(1);
        expect(refused.json.error.message).toMatch(/--resume.*--restart/);

        const [{ line: stoppedAt = 0, imported: before = 0 } = {}] = await db
          .repository(FileImport)
          .findBy({ projectId });
        await kill(source, 'SIGKILL', ['--resume']);
        const [{ line = 0, imported = 0 } = {}] = await db.repository(FileImport).findBy({ projectId });
        expect(line).toBeGreaterThan(stoppedAt);
        expect(imported).toBeGreaterThan(before);
        expect(await count()).toBe(imported);
        // The state of a process that died between the report and the commit.
        await appendFile(path(`j.refused.${format}`), '{"problem":"line 99999999: ');

        const last = await importJson(source, '--resume');
        expect(last).toMatchObject({
          code: 1,
          complete: true,
          resumedAtLine: line + 1,
          imported: ROWS * 0.99 - imported,
          total: { imported: ROWS * 0.99, refused: ROWS * 0.01 },
        });
        const wanted = Array.from({ length: ROWS }, (_, at) => at).filter((at) => at % 100 !== 7);
        expect(await names()).toEqual(wanted.map((at) => `Toy ${at}`));
        const shift = format === 'csv' ? 2 : 1;
        expect(await refusedLines(last.refusedFile)).toEqual(
          Array.from({ length: ROWS / 100 }, (_, at) => at * 100 + 7 + shift),
        );

        const again = await importJson(source, '--resume');
        expect(again).toMatchObject({ code: 1, imported: 0, complete: true });
        expect(await count()).toBe(ROWS * 0.99);
      },
    );

    test('Import-11: a changed file is not resumed; --restart imports it as a whole', async () => {
      const source = await file('k.csv', content('csv'));
      await kill(source, 'SIGKILL');
      await appendFile(source, 'One more,1\n');
      const changed = await runHere([source, '--resume', '--json']);
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
      expect(await importJson(source, '--again')).toMatchObject({ complete: true, resumedAtLine: null });
    });

    test('Import-12: --resume without an earlier import is refused, also under another name', async () => {
      const source = await file('l.csv', content('csv'));
      await kill(source, 'SIGKILL');
      await rename(source, path('m.csv'));
      const { code, json } = await runHere([path('m.csv'), '--resume', '--json']);
      expect(code).toBe(1);
      expect(json.error.message).toContain('Omit --resume');
    });

    test('Import-13: Ctrl-C ends after the current batch, with exit code 1 and how to continue', async () => {
      const source = await file('n.csv', content('csv'));
      const stopped = await kill(source, 'SIGINT');
      expect(stopped).toMatchObject({ code: 1, json: { complete: false } });
      expect(await count()).toBe(stopped.json.imported);
      expect(await isUnderWay()).toBe(true);
      const { json } = await runHere([source, '--resume', '--json']);
      expect(json).toMatchObject({ complete: true, resumedAtLine: stopped.json.lastLine + 1 });
      expect(await count()).toBe(ROWS * 0.99);
    });

    test('Import-14: a resumed import takes over the file from an import that still runs', async () => {
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
