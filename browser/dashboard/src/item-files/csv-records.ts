import { type CsvLine, CsvRows } from '../../../../src/csv.js';

/** A row of a CSV file. */
export interface CsvRecord {
  /** Its first line; lines count from 1. */
  line: number;
  text: string;
  /** Null = unreadable; `problem` has the reason. */
  fields: readonly string[] | null;
  problem: string;
}

const LINE = /([^\r\n]*)(\r\n|\r|\n|$)/g;

/** The rows of a CSV file, without blank lines: as the command line imports them. */
export function csvRecords(content: string): CsvRecord[] {
  const rows = new CsvRows<CsvLine>();
  const lines = [...content.replace(/^\uFEFF/, '').matchAll(LINE)].map(
    ([, text = '', lineEnd = ''], at): CsvLine => ({ number: at + 1, text, lineEnd, problem: null }),
  );
  return [...lines.flatMap((line) => rows.add(line)), ...rows.end()].map(
    ({ lines: [first], text, fields, problem }) => ({
      line: first.number,
      text,
      fields,
      problem: problem ?? '',
    }),
  );
}
