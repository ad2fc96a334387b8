import { isUtf8 } from 'node:buffer';
import { parse } from 'csv-parse/sync';
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
  const [header = []] = (bytes && isUtf8(bytes) && parseOrNull(textOf([bytes]))) || [];
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

/** Lines that belong to the same row, because a quoted field spans them. */
interface Candidate {
  lines: Line[];
  /** Null = unreadable; `problem` has the reason. */
  text: string | null;
  problem: string;
}

/** All complete rows, and the lines of the incomplete last one. */
function rowsOf(lines: Line[], header: readonly string[], ending: Ending): { rows: ReadRow[]; rest: Line[] } {
  const candidates: Candidate[] = [];
  let next = 0;
  for (;;) {
    const candidate = candidateAt(lines, next, ending);
    if (!candidate) break;
    candidates.push(candidate);
    next += candidate.lines.length;
  }
  const rest = lines.slice(next);

  const written = candidates.filter(({ text }) => text !== null && !isBlank(text));
  const records = parseOrNull(written.map(({ text }) => text).join('\n'));
  if (records?.length !== written.length) return oneByOne(lines, header, ending);
  let parsed = 0;
  const rows = candidates.flatMap((candidate) => {
    if (candidate.text === null) return [unreadable(candidate.lines[0] as Line, candidate.problem, header)];
    if (isBlank(candidate.text)) return [];
    parsed += 1;
    return [toRow(candidate, records[parsed - 1] as string[], header)];
  });
  return { rows, rest };
}

/** The slow way, for lines with at least one bad row. */
function oneByOne(lines: Line[], header: readonly string[], ending: Ending) {
  const rows: ReadRow[] = [];
  let next = 0;
  for (;;) {
    const candidate = candidateAt(lines, next, ending);
    if (!candidate) return { rows, rest: lines.slice(next) };
    // Without this, 100 KB of blank lines behind a stray quote take seconds.
    if (candidate.text !== null && isBlank(candidate.text)) {
      next += candidate.lines.length;
      continue;
    }
    const first = candidate.lines[0] as Line;
    const [record, ...more] = (candidate.text !== null && parseOrNull(candidate.text)) || [];
    const isOne = record !== undefined && more.length === 0;
    next += isOne ? candidate.lines.length : 1;
    if (candidate.text === null) rows.push(unreadable(first, candidate.problem, header));
    else if (isOne) rows.push(toRow(candidate, record, header));
    else rows.push(unreadable(first, NOT_CLOSED, header));
  }
}

/** The next row: it ends where the number of quotes is even, as quotes in a field come in pairs. Null = no end yet. */
function candidateAt(lines: Line[], from: number, ending: Ending): Candidate | null {
  const alone = (problem: string) => ({ lines: lines.slice(from, from + 1), text: null, problem });
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
    if (!isOpen) return decoded(lines.slice(from, at + 1));
  }
  return from < lines.length && ending === 'end' ? alone(NOT_CLOSED) : null;
}

function decoded(lines: Line[]): Candidate {
  const parts = lines.map(({ bytes }) => bytes as Buffer);
  if (!parts.every((bytes) => isUtf8(bytes))) {
    return { lines: lines.slice(0, 1), text: null, problem: UNREADABLE_TEXT };
  }
  return { lines, text: textOf(parts), problem: '' };
}

function textOf(lines: Buffer[]): string {
  const text = lines.map((bytes) => bytes.toString()).join('\n');
  return text.endsWith('\r') ? text.slice(0, -1) : text;
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}

function parseOrNull(text: string): string[][] | null {
  try {
    return parse(text, { record_delimiter: '\n', relax_column_count: true });
  } catch {
    return null;
  }
}

function toRow({ lines, text }: Candidate, fields: readonly string[], header: readonly string[]): ReadRow {
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
      isFull ? refusedRow(fields, problem, header) : refusedText(text ?? '', problem, header),
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
