import { isUtf8 } from 'node:buffer';
import { invalidField } from '../../ground/kernel/errors.js';
import { parseInt64 } from '../../ground/kernel/int64.js';
import { listed, type NounField } from '../../nouns.js';
import { RefusedCsv } from './refused-csv.js';
import { type Line, MAX_ROW_BYTES, type ReadRow, TOO_LONG, UNREADABLE_TEXT, unreadableRow } from './rows.js';

/** A file of refused rows repeats every column in each row, even if the row has two bytes. */
const MAX_COLUMNS = 200;
const QUOTE = 34;
const NOT_CLOSED = 'has an unclosed quote, or a quote in a wrong place';

/**
 * The column names in a CSV file's first line. Throws `AppError invalid_request` when a column is missing or repeated, or
 * there are too many.
 */
export function readHeader(line: Line | undefined, fields: readonly NounField[]): string[] {
  if (!line) throw invalidField('header', 'is missing: the file is empty');
  const { bytes } = line;
  const header = (bytes && isUtf8(bytes) && fieldsOf(textOf([bytes]))) || [];
  if (header.length > MAX_COLUMNS) {
    throw invalidField('header', `has ${header.length} columns; at most ${MAX_COLUMNS} are allowed`);
  }
  const missing = namesOf(fields.filter(({ name, isRequired }) => isRequired && !header.includes(name)));
  const twice = namesOf(fields).find((name) => header.indexOf(name) !== header.lastIndexOf(name));
  if (missing.length === 0 && twice === undefined) return header;
  const problem = twice === undefined ? `lacks ${listed(missing)}` : `names ${twice} twice`;
  throw invalidField('header', `${problem}. ${headerRule(fields)}`);
}

const namesOf = (fields: readonly NounField[]) => fields.map(({ name }) => name);

function headerRule(fields: readonly NounField[]): string {
  const optional = namesOf(fields.filter(({ isRequired }) => !isRequired));
  const rule = `It must be UTF-8 with the columns ${listed(namesOf(fields))}, separated by commas`;
  return optional.length === 0 ? rule : `${rule}; only ${listed(optional)} may be missing`;
}

/** The rows of a CSV file (RFC 4180), each with its first line number. Blank rows are skipped. */
export async function* readCsv(
  source: AsyncIterable<Line[]>,
  header: readonly string[],
  fields: readonly NounField[],
): AsyncGenerator<ReadRow[]> {
  const rows = new CsvRows(header, fields);
  for await (const lines of source) yield lines.flatMap((line) => rows.add(line));
  yield rows.end();
}

interface Column extends NounField {
  /** Its position in the header; -1 = none. */
  at: number;
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

  private readonly columns: Column[];
  private readonly refused: RefusedCsv;

  constructor(
    private readonly header: readonly string[],
    fields: readonly NounField[],
  ) {
    this.columns = fields.map((field) => ({ ...field, at: header.indexOf(field.name) }));
    this.refused = new RefusedCsv(header, fields);
  }

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
    const { header, refused } = this;
    const first = lines[0] as Line;
    const last = lines.at(-1) as Line;
    const isFull = fields.length === header.length;
    return {
      line: first.number,
      end: { line: last.number, positionBytes: last.endBytes },
      problem: isFull
        ? refused.problemOf(fields)
        : `has ${fields.length} fields, but the header has ${header.length}`,
      input: this.inputOf(fields),
      withProblem: (problem) => (isFull ? refused.row(fields, problem) : refused.text(text, problem)),
    };
  }

  /** An empty optional value is not stated. */
  private inputOf(fields: readonly string[]): object {
    const input: Record<string, unknown> = {};
    for (const { name, kind, isRequired, at } of this.columns) {
      const text = fields[at] ?? '';
      const isNumber = kind === 'int64' || kind === 'integer';
      if (text !== '' || isRequired) input[name] = isNumber ? (parseInt64(text) ?? text) : text;
    }
    return input;
  }

  /** Reads each line again at most once: a line with an even number of quotes is then a complete row. */
  private refuseFirst(problem: string): ReadRow[] {
    const [first, ...others] = this.take() as [Line, ...Line[]];
    const refused = (text: string, reason: string) => this.refused.text(text, reason);
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
