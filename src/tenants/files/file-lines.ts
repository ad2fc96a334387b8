import type { NounField } from '../../nouns.js';
import type { ListedRecord } from './noun-files.js';
import { csvLine, type FileFormat } from './rows.js';

/**
 * The start of a file with records of a noun, and how each record is written as a line. A line of NDJSON is the object that
 * GET returns: a field without a value is left out. A value that is no text is its own JSON.
 */
export function fileLines(fields: readonly NounField[], format: FileFormat) {
  if (format === 'ndjson') return { start: '', line: jsonLine(fields) };
  const names = ['id', ...fields.map(({ name }) => name)];
  const line = (record: ListedRecord) => `${csvLine(names.map((name) => record[name] ?? ''))}\n`;
  return { start: `${csvLine(names)}\n`, line };
}

function jsonLine(fields: readonly NounField[]) {
  const values = fields.map(({ name, json }) => {
    const start = `,${JSON.stringify(name)}:`;
    return (record: ListedRecord) => {
      const value = record[name] ?? null;
      if (value === null) return '';
      return start + (json === 'text' ? JSON.stringify(value) : value);
    };
  });
  return (record: ListedRecord) => `{"id":${record.id}${values.map((value) => value(record)).join('')}}\n`;
}

/** The start of a cell that a spreadsheet runs; with the separator of another country a text has several cells. */
const FORMULA = /(^|[,;\t\r\n])(?=[^\S\t\r\n]*[=+\-@＝＋－＠])/g;

/** The record with an apostrophe before each formula of its texts. An import does not remove it. */
export function withoutFormulas(record: ListedRecord, fields: readonly NounField[]): ListedRecord {
  const texts = fields
    .filter(({ kind }) => kind === 'text')
    .map(({ name }) => [name, record[name]?.replace(FORMULA, "$1'") ?? null]);
  return { ...record, ...Object.fromEntries(texts) };
}
