import { isUtf8 } from 'node:buffer';
import { invalidRequest } from '../../ground/kernel/errors.js';
import { parseInt64 } from '../../ground/kernel/int64.js';
import {
  csvLine,
  type Line,
  MAX_ROW_BYTES,
  PROBLEM,
  type ReadRow,
  TOO_LONG,
  UNREADABLE_TEXT,
  unreadableRow,
} from './rows.js';

const REQUIRED_COLUMNS = ['name', 'categoryId'];
const COLUMNS = [...REQUIRED_COLUMNS, 'status'];
/** A file of refused rows repeats every column in each row, even if the row has two bytes. */
const MAX_COLUMNS = 200;
const QUOTE = 34;
const NOT_CLOSED = 'has an unclosed quote, or a quote in a wrong place';

/**
 * The column names in a CSV file's first line. Throws `AppError invalid_request` when a column is missing or repeated, or
 * there are too many.
 */
export function readHeader(line: Line | undefined): string[] {
  if (!line) throw invalidRequest([{ field: 'header', message: 'is missing: the file is empty' }]);
  const { bytes } = line;
  const header = (bytes && isUtf8(bytes) && fieldsOf(textOf([bytes]))) || [];
  if (header.length > MAX_COLUMNS) {
    const message = `has ${header.length} columns; at most ${MAX_COLUMNS} are allowed`;
    throw invalidRequest([{ field: 'header', message }]);
  }
  const missing = REQUIRED_COLUMNS.filter((column) => !header.includes(column));
  const twice = COLUMNS.find((column) => header.indexOf(column) !== header.lastIndexOf(column));
  if (missing.length === 0 && twice === undefined) return header;
  const problem = twice === undefined ? `lacks ${missing.join(' and ')}` : `names ${twice} twice`;
  const shouldBe = 'It must be UTF-8 with the columns name, categoryId and status, separated by commas';
  throw invalidRequest([{ field: 'header', message: `${problem}. ${shouldBe}; only status may be missing` }]);
}

/** The header of a file of refused rows: the columns of the input, and the problem. */
export function refusedCsvHeader(header: readonly string[]): string {
  return csvLine(header.includes(PROBLEM) ? header : [...header, PROBLEM]);
}

/**
 * The rows of a CSV file (RFC 4180), each with its first line number. An unreadable row costs only itself: a stray quote
 * seems to join several rows, so after it reading continues with the very next line.
 */
export async function* readCsv(
  source: AsyncIterable<Line[]>,
  header: readonly string[],
): AsyncGenerator<ReadRow[]> {
  let open: Line[] = [];
  for await (const lines of source) {
    if (staysOpen(open, lines)) {
      open.push(...lines);
      continue;
    }
    const { rows, rest } = rowsOf([...open, ...lines], header, 'more follows');
    open = rest;
    yield rows;
  }
  yield rowsOf(open, header, 'end').rows;
}

/** Whether the open row continues through all these lines. To search it from its start for each group takes minutes. */
function staysOpen([first]: readonly Line[], lines: readonly Line[]): boolean {
  const last = lines.at(-1);
  if (!first || !last || last.endBytes - first.endBytes > MAX_ROW_BYTES) return false;
  return lines.every(({ bytes }) => bytes !== null && !bytes.includes(QUOTE));
}

type Ending = 'more follows' | 'end';

/** All complete rows, and the lines of the incomplete last one. Blank rows are skipped. */
function rowsOf(lines: Line[], header: readonly string[], ending: Ending): { rows: ReadRow[]; rest: Line[] } {
  const rows: ReadRow[] = [];
  let next = 0;
  for (let found = rowAt(lines, next, ending); found; found = rowAt(lines, next, ending)) {
    const { problem } = found;
    const [first] = found.lines as [Line];
    const text = problem === null ? textOf(found.lines.map(({ bytes }) => bytes as Buffer)) : '';
    const fields = problem === null ? fieldsOf(text) : null;
    next += fields ? found.lines.length : 1;
    if (!fields) rows.push(unreadable(first, problem ?? NOT_CLOSED, header));
    else if (text.trim() !== '') rows.push(toRow(found.lines, { text, fields }, header));
  }
  return { rows, rest: lines.slice(next) };
}

/** Lines that belong to the same row, because a quoted field spans them. */
interface FoundRow {
  lines: Line[];
  /** The reason why the first line can't be read; null = none. */
  problem: string | null;
}

/** The next row: it ends where the number of quotes is even, as quotes in a field come in pairs. Null = no end yet. */
function rowAt(lines: Line[], from: number, ending: Ending): FoundRow | null {
  const alone = (problem: string) => ({ lines: lines.slice(from, from + 1), problem });
  let isOpen = false;
  let totalBytes = 0;
  for (let at = from; at < lines.length; at += 1) {
    const { bytes } = lines[at] as Line;
    if (bytes === null) return alone(isOpen ? NOT_CLOSED : TOO_LONG);
    totalBytes += bytes.length + 1;
    if (totalBytes > MAX_ROW_BYTES + 1) return alone(NOT_CLOSED);
    for (let quote = bytes.indexOf(QUOTE); quote !== -1; quote = bytes.indexOf(QUOTE, quote + 1)) {
      isOpen = !isOpen;
    }
    if (isOpen) continue;
    const row = lines.slice(from, at + 1);
    return row.every((line) => isUtf8(line.bytes as Buffer))
      ? { lines: row, problem: null }
      : alone(UNREADABLE_TEXT);
  }
  return from < lines.length && ending === 'end' ? alone(NOT_CLOSED) : null;
}

function textOf(lines: Buffer[]): string {
  const text = lines.map((bytes) => bytes.toString()).join('\n');
  return text.endsWith('\r') ? text.slice(0, -1) : text;
}

/** A field, quoted or not, and what follows it. */
const FIELD = /(?:"([^"]*(?:""[^"]*)*)"|([^",]*))(,|$)/y;

/** The fields of a row (RFC 4180); null = a quote in a wrong place. D-226. */
function fieldsOf(text: string): string[] | null {
  const fields: string[] = [];
  FIELD.lastIndex = 0;
  for (;;) {
    const [, quoted, plain, end] = FIELD.exec(text) ?? [];
    if (end === undefined) return null;
    fields.push(quoted?.replaceAll('""', '"') ?? (plain as string));
    if (end === '') return fields;
  }
}

interface RowContent {
  text: string;
  fields: readonly string[];
}

function toRow(lines: Line[], { text, fields }: RowContent, header: readonly string[]): ReadRow {
  const first = lines[0] as Line;
  const last = lines.at(-1) as Line;
  const isFull = fields.length === header.length;
  const at = (column: string) => fields[header.indexOf(column)] ?? '';
  const status = at('status');
  return {
    line: first.number,
    end: { line: last.number, positionBytes: last.endBytes },
    problem: isFull ? null : `has ${fields.length} fields, but the header has ${header.length}`,
    input: {
      name: at('name'),
      categoryId: parseInt64(at('categoryId')) ?? at('categoryId'),
      ...(status === '' ? {} : { status }),
    },
    withProblem: (problem) =>
      isFull ? refusedRow(fields, problem, header) : refusedText(text, problem, header),
  };
}

function unreadable(line: Line, problem: string, header: readonly string[]): ReadRow {
  return unreadableRow(line, problem, (text, reason) => refusedText(text, reason, header));
}

/** The whole text of a row becomes its name. Without a category the next import refuses it too. */
function refusedText(text: string, problem: string, header: readonly string[]): string {
  const fields = header.map((column) => (column === 'name' ? text : ''));
  return refusedRow(fields, problem, header);
}

function refusedRow(fields: readonly string[], problem: string, header: readonly string[]): string {
  const at = header.indexOf(PROBLEM);
  return csvLine(at === -1 ? [...fields, problem] : fields.with(at, problem));
}
