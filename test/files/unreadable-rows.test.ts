import { Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { type AppError, invalidRequest } from '../../src/ground/kernel/errors.js';
import { NAME, validator } from '../../src/ground/kernel/validation.js';
import type { NounField } from '../../src/nouns.js';
import { openRecordFile } from '../../src/tenants/files/record-file.js';
import { RowBatch } from '../../src/tenants/files/row-batch.js';
import { BEGINNING } from '../../src/tenants/files/rows.js';
import { GATEWAY } from '../support/gateway/tested-gateway.js';

function fieldOf(name: string, kind: keyof typeof RULES, isRequired: boolean): NounField {
  const json = kind === 'int64' ? 'integer' : 'text';
  return { name, label: name, withArticle: `a ${name}`, kind, json, scalar: null, isRequired, example: '' };
}

const RULES = {
  text: NAME,
  int64: { format: 'int64', rule: 'must be an integer' } as { rule: string },
  choice: { enum: ['good', 'bad'], rule: 'must be good or bad' } as { rule: string },
};

const text = (name: string, isRequired: boolean) => fieldOf(name, 'text', isRequired);
const count = fieldOf('count', 'int64', true);
const state = fieldOf('state', 'choice', false);

/** Reads a file, as an import does. */
async function read(content: string | Buffer, fields: readonly NounField[]) {
  const required = fields.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  const properties = Object.fromEntries(
    fields.map(({ name, kind }) => [name, RULES[kind as keyof typeof RULES]]),
  );
  const problemsOf = validator({ type: 'object', required, properties });
  const parse = (input: unknown) => {
    const problems = problemsOf(input);
    if (problems.length > 0) throw invalidRequest(problems);
    return input as object;
  };
  const file = await openRecordFile('-', Readable.from([Buffer.from(content)]), fields);
  const batch = new RowBatch({ parse }, BEGINNING);
  for await (const rows of file.rows(BEGINNING)) for (const row of rows) batch.add(row);
  const refused = batch.refused.map((row) => row.text);
  const refusedFile = `${file.refusedHeader}${refused.join('\n')}\n`;
  return { records: batch.records, refused, refusedFile };
}

describe.each([
  ['a text and a number that are required', [text('title', true), count, state]],
  ['one required text', [text('title', true), state]],
  ['two required texts', [text('title', true), text('author', true)]],
  ['no required field', [text('note', false), state]],
  ['no text', [count, state]],
])('a noun with %s', (_, fields) => {
  const names = fields.map(({ name }) => name);
  const long = 'x'.repeat(100_001);

  test.each([
    ['CSV', [names.join(','), '5" Rex,good', 'only,one,and more', '"open', `${long},`].join('\n')],
    ['NDJSON', ['{"title":', '[1]', '"a text"', `{"x":"${long}"}`].join('\n').replace(/^/, '{"state":1}\n')],
  ])(
    'Import-47: an unreadable row of %s is refused by every further import, and keeps its text',
    async (format, content) => {
      const first = await read(content, fields);
      expect(first.refused).toHaveLength(format === 'CSV' ? 4 : 5);
      expect(first.records).toEqual([]);
      const texts =
        format === 'CSV' ? ['5"" Rex,good', 'only,one,and more', '""open'] : ['{\\"title\\":', '[1]'];
      for (const kept of texts) expect(first.refusedFile).toContain(kept);

      const second = await read(first.refusedFile, fields);
      expect(second).toMatchObject({ records: [], refused: { length: first.refused.length } });
      const third = await read(second.refusedFile, fields);
      expect({ ...third, refused: [] }).toEqual({ ...second, refused: [] });
      for (const kept of texts) expect(third.refusedFile).toContain(kept);
    },
  );
});

test('Import-48: a corrected row is imported, whichever column had its text', async () => {
  const fields = [text('title', true), state];
  const csv = await read('title,state\n5" Rex,good\n', fields);
  expect(csv.refusedFile).toBe(
    'title,state,problem,unreadable\n' +
      ',,"line 2: row has an unclosed quote, or a quote in a wrong place","5"" Rex,good"\n',
  );
  const corrected = csv.refusedFile.replace('\n,,', '\n"5"" Rex",good,').replace('"5"" Rex,good"\n', '\n');
  expect(await read(corrected, fields)).toMatchObject({
    records: [{ title: '5" Rex', state: 'good' }],
    refused: [],
  });
  const ndjson = await read('{"title":"Rex"\n', fields);
  expect(ndjson.refusedFile).toMatch(
    /^\{"problem":"line 1: row is no valid JSON.*","unreadable":"\{\\"title\\":\\"Rex\\""\}\n$/,
  );
  const again = await read(ndjson.refusedFile, fields);
  expect(again.refusedFile).toContain('"line 1: row is in unreadable: move its values to their places');
  expect(await read('{"problem":"line 1","unreadable":"","title":"Rex"}\n', fields)).toMatchObject({
    records: [{ title: 'Rex' }],
    refused: [],
  });
});

test('Import-49: a header is refused with the columns of its noun', async () => {
  const refusal = (fields: NounField[]) => read('x\n', fields).catch((error: AppError) => error.message);
  expect(await refusal([text('title', true), count, state])).toContain(
    'header lacks title and count. It must be UTF-8 with the columns title, count and state, separated by commas; only state may be missing',
  );
  expect(await refusal([text('title', true), text('author', true), count])).toContain(
    'header lacks title, author and count. It must be UTF-8 with the columns title, author and count, separated by commas',
  );
});

test('Import-50: no field of a noun has a name that files use themselves', () => {
  const names = GATEWAY.nouns.flatMap(({ description }) => description.fields.map(({ name }) => name));
  expect(names.filter((name) => ['id', 'problem', 'row', 'unreadable'].includes(name))).toEqual([]);
});
