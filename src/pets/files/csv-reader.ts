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
  return refusedRow(header, PROBLEM, header);
}

/** The rows of a CSV file (RFC 4180), each with its first line number. Blank rows are skipped. */
export async function* readCsv(
  source: AsyncIterable<Line[]>,
  header: readonly string[],
): AsyncGenerator<ReadRow[]> {
  const rows = new CsvRows(header);
  for await (const lines of source) yield lines.flatMap((line) => rows.add(line));
  yield rows.end();
}

/**
 * Joins lines to rows, because a quoted field can span lines. An unreadable row costs only its first line: a stray quote
 * seems to join several rows, so the lines after it are read again. A row ends where the number of quotes is even, as
 * quotes in a field come in pairs.
 */
class CsvRows {
  /** The lines of a row that has not ended. */
  private lines: Line[] = [];
  private totalBytes = 0;
  private isQuoted = false;

  constructor(private readonly header: readonly string[]) {}

  /** The rows that the line completes. */
  add(line: Line): ReadRow[] {
    const { bytes } = line;
    this.lines.push(line);
    if (bytes === null) return this.refuseFirst(this.lines.length === 1 ? TOO_LONG : NOT_CLOSED);
    this.totalBytes += bytes.length + 1;
    if (this.totalBytes > MAX_ROW_BYTES + 1) return this.refuseFirst(NOT_CLOSED);
    for (let quote = bytes.indexOf(QUOTE); quote !== -1; quote = bytes.indexOf(QUOTE, quote + 1)) {
      this.isQuoted = !this.isQuoted;
    }
    return this.isQuoted ? [] : this.complete();
  }

  /** The rows of the lines that are left at the end of the file. */
  end(): ReadRow[] {
    return this.lines.length === 0 ? [] : [...this.refuseFirst(NOT_CLOSED), ...this.end()];
  }

  private complete(): ReadRow[] {
    const bytes = this.lines.map((line) => line.bytes as Buffer);
    if (!bytes.every(isUtf8)) return this.refuseFirst(UNREADABLE_TEXT);
    const text = textOf(bytes);
    const fields = fieldsOf(text);
    if (!fields) return this.refuseFirst(NOT_CLOSED);
    const lines = this.take();
    return text.trim() === '' ? [] : [this.row(lines, text, fields)];
  }

  private row(lines: Line[], text: string, fields: readonly string[]): ReadRow {
    const { header } = this;
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

  /** Reads each line again at most once: a line with an even number of quotes is then a complete row. */
  private refuseFirst(problem: string): ReadRow[] {
    const [first, ...others] = this.take() as [Line, ...Line[]];
    const refused = (text: string, reason: string) => refusedText(text, reason, this.header);
    return [unreadableRow(first, problem, refused), ...others.flatMap((line) => this.add(line))];
  }

  private take(): Line[] {
    const { lines } = this;
    this.lines = [];
    this.totalBytes = 0;
    this.isQuoted = false;
    return lines;
  }
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

/** The whole text of a row becomes its name. Without a category the next import refuses it too. */
function refusedText(text: string, problem: string, header: readonly string[]): string {
  const fields = header.map((column) => (column === 'name' ? text : ''));
  return refusedRow(fields, problem, header);
}

/** Replaces the column of the problem, or adds it. */
function refusedRow(fields: readonly string[], problem: string, header: readonly string[]): string {
  const at = header.indexOf(PROBLEM);
  return csvLine(at === -1 ? [...fields, problem] : fields.with(at, problem));
}
