import { Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { csvRecords } from '../../browser/dashboard/src/item-files/csv-records.js';
import type { NounField } from '../../src/nouns.js';
import { openRecordFile } from '../../src/tenants/files/record-file.js';
import { BEGINNING, csvLine, type ReadRow } from '../../src/tenants/files/rows.js';

const fields: NounField[] = ['name', 'note'].map((name, at) => ({
  name,
  label: name,
  withArticle: `a ${name}`,
  kind: 'text',
  json: 'text',
  scalar: 'String',
  isRequired: at === 0,
  example: '',
}));
setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');
const LINE_ENDS = ['\n', '\r\n', '\r'];

/** The rows of a file that arrives in pieces of this many bytes. */
async function rowsOf(content: string | Buffer, { pieceBytes = 65_536, from = BEGINNING } = {}) {
  const bytes = Buffer.from(content);
  const pieces = Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, at) =>
    bytes.subarray(at * pieceBytes, (at + 1) * pieceBytes),
  );
  const file = await openRecordFile('-', Readable.from(pieces), fields);
  const rows: ReadRow[] = [];
  for await (const group of file.rows(from)) rows.push(...group);
  return rows;
}
const shown = (rows: readonly ReadRow[]) => rows.map(({ line, problem, input }) => [line, problem ?? input]);
/** As the dashboard reads it. */
const shownInBrowser = (content: string) =>
  csvRecords(content).map(({ line, fields, problem }) => [line, fields ?? `row ${problem}`]);

describe.each([1, 2, 3, 65_536])('a file in pieces of %i bytes', (pieceBytes) => {
  test.each([
    ['LF', 'name,note\nRex,a\nMax,b\n'],
    ['CRLF', 'name,note\r\nRex,a\r\nMax,b\r\n'],
    ['CR, as Excel for Mac writes it', 'name,note\rRex,a\rMax,b\r'],
    ['mixed line ends', 'name,note\rRex,a\r\nMax,b'],
  ])('Import-54: %s ends the rows of CSV', async (_, content) => {
    const rows = await rowsOf(content, { pieceBytes });
    expect(shown(rows)).toEqual([
      [2, { name: 'Rex', note: 'a' }],
      [3, { name: 'Max', note: 'b' }],
    ]);
    expect(rows.at(-1)?.end).toEqual({ line: 3, positionBytes: content.length });
  });

  test('Import-55: a line end inside quotes belongs to the field, as it was written', async () => {
    const content = 'name,note\r\n"a\rb","c\r\nd"\r\n\r\n"e\nf",g\r';
    expect(shown(await rowsOf(content, { pieceBytes }))).toEqual([
      [2, { name: 'a\rb', note: 'c\r\nd' }],
      [6, { name: 'e\nf', note: 'g' }],
    ]);
  });

  test('Import-56: NDJSON may have the same line ends', async () => {
    const rows = await rowsOf('{"name":"Rex"}\r{"name":"Max"}\r\n\n{"name":"Luna"}', { pieceBytes });
    expect(shown(rows)).toEqual([
      [1, { name: 'Rex' }],
      [2, { name: 'Max' }],
      [4, { name: 'Luna' }],
    ]);
  });
});

test('Import-57: a quote that never closes, and a line without end, cost one row and no memory', async () => {
  const open = await rowsOf(`name,note\n"Rex,a\r${'Max,b\r'.repeat(50_000)}`);
  expect([open.length, open[0]?.line, open[0]?.problem, open[1]?.input]).toEqual([
    50_001,
    2,
    expect.stringMatching(/^has an unclosed quote/),
    { name: 'Max', note: 'b' },
  ]);
  const before = process.memoryUsage().arrayBuffers;
  let mostBytes = 0;
  async function* endless() {
    yield Buffer.from('name,note\n');
    for (let piece = 0; piece < 1_000; piece += 1) {
      yield Buffer.alloc(65_536, 'x');
      if (piece % 100 !== 99) continue;
      // Node frees the pieces when it likes.
      collectGarbage();
      mostBytes = Math.max(mostBytes, process.memoryUsage().arrayBuffers - before);
    }
    yield Buffer.from('\rRex,a\r');
  }
  const file = await openRecordFile('-', Readable.from(endless()), fields);
  const rows: ReadRow[] = [];
  for await (const group of file.rows(BEGINNING)) rows.push(...group);
  expect(shown(rows)).toEqual([
    [2, 'is longer than 100,000 bytes'],
    [3, { name: 'Rex', note: 'a' }],
  ]);
  expect(mostBytes).toBeLessThan(10_000_000);
});

test('Import-58: the command line and the dashboard read each valid file as csv-parse does', async () => {
  const field = fc.string({ unit: fc.constantFrom('a', 'ü', '"', ',', '\n', '\r', ' ', ';'), maxLength: 6 });
  const record = fc.tuple(field, field).filter((values) => values.join('').trim() !== '');
  const file = fc.array(fc.tuple(record, fc.constantFrom(...LINE_ENDS)), { minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(file, fc.integer({ min: 1, max: 40 }), async (records, pieceBytes) => {
      const content = `name,note\n${records.map(([values, end]) => csvLine(values) + end).join('')}`;
      const expected = parse(content, { record_delimiter: ['\r\n', '\n', '\r'], from: 2 });
      expect(expected).toEqual(records.map(([values]) => values));
      const rows = await rowsOf(content, { pieceBytes });
      expect(rows.map(({ input }) => input)).toEqual(
        expected.map(([name, note]) => ({ name, ...(note === '' ? {} : { note }) })),
      );
      expect(
        csvRecords(content)
          .slice(1)
          .map((read) => read.fields),
      ).toEqual(expected);
    }),
    { numRuns: 300 },
  );
});

test('Import-59: both name the same line and problem of each unreadable row', async () => {
  const content = 'name,note\r5" nail,a\rRex,b\r"Max,c\rLuna,d\r\n"open';
  const rows = await rowsOf(content);
  expect(rows.map(({ line, problem }) => [line, problem])).toEqual(
    csvRecords(content)
      .slice(1)
      .map(({ line, problem }) => [line, problem || null]),
  );
  expect(shownInBrowser(content)).toHaveLength(6);
});
