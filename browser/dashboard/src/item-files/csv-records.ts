/** A row of a CSV file. */
export interface CsvRecord {
  /** Its first line; lines count from 1. */
  line: number;
  text: string;
  /** Null = unreadable; `problem` has the reason. */
  fields: readonly string[] | null;
  problem: string;
}

/** No item needs more, and the gateway accepts no larger body. */
const MAX_ROW_CHARACTERS = 100_000;
const NOT_CLOSED = 'has an unclosed quote, or a quote in a wrong place';
const FIELD = /(?:"([^"]*(?:""[^"]*)*)"|([^",]*))(,|$)/y;

/**
 * The rows of a CSV file (RFC 4180), without blank lines. An unreadable row costs only itself, as in the import
 * of the command line: reading continues with the very next line. The library of the gateway would add 15 KB to the page.
 */
export function csvRecords(text: string): CsvRecord[] {
  const lines = text.replace(/^\uFEFF/, '').split('\n');
  const records: CsvRecord[] = [];
  for (let at = 0; at < lines.length; ) {
    const row = rowAt(lines, at);
    const fields = row && fieldsOf(row.text);
    if (row && fields) {
      if (row.text.trim() !== '') records.push({ line: at + 1, text: row.text, fields, problem: '' });
      at += row.lineCount;
    } else {
      const alone = withoutReturn(lines[at] as string);
      records.push({ line: at + 1, text: alone, fields: null, problem: NOT_CLOSED });
      at += 1;
    }
  }
  return records;
}

/** The row that begins at a line: it ends where the number of quotes is even, as quotes in a field come in pairs. */
function rowAt(lines: readonly string[], from: number): { text: string; lineCount: number } | null {
  let isOpen = false;
  let characters = 0;
  for (let at = from; at < lines.length && characters <= MAX_ROW_CHARACTERS; at += 1) {
    const line = lines[at] as string;
    characters += line.length + 1;
    if ((line.split('"').length - 1) % 2 === 1) isOpen = !isOpen;
    if (!isOpen) {
      return { text: withoutReturn(lines.slice(from, at + 1).join('\n')), lineCount: at + 1 - from };
    }
  }
  return null;
}

function withoutReturn(text: string): string {
  return text.endsWith('\r') ? text.slice(0, -1) : text;
}

/** Null = a quote is in a wrong place. */
function fieldsOf(text: string): string[] | null {
  const fields: string[] = [];
  FIELD.lastIndex = 0;
  for (;;) {
    const match = FIELD.exec(text);
    if (!match) return null;
    const [, quoted, plain = '', end] = match;
    fields.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === '') return fields;
  }
}
