import { isUtf8 } from 'node:buffer';
import { type CsvLine, type CsvRow, CsvRows, csvFields } from '../../csv.js';
import { invalidField } from '../../ground/kernel/errors.js';
import { int64OrText } from '../../ground/kernel/int64.js';
import { jsonIn } from '../../ground/kernel/json.js';
import { listed } from '../../noun-words.js';
import type { NounField } from '../../nouns.js';
import { RefusedCsv } from './refused-csv.js';
import { type Line, type ReadRow, TOO_LONG, UNREADABLE_TEXT, unreadableRow } from './rows.js';

/** A file of refused rows repeats every column in each row, even if the row has two bytes. */
const MAX_COLUMNS = 200;

/**
 * The column names in a CSV file's first line. Throws `AppError invalid_request` when a column is missing or repeated, or
 * there are too many.
 */
export function readHeader(line: Line | undefined, fields: readonly NounField[]): string[] {
  if (!line) throw invalidField('header', 'is missing: the file is empty');
  const { bytes } = line;
  const header = (bytes && isUtf8(bytes) && csvFields(bytes.toString())) || [];
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
  const rows = new CsvRows<TextLine>();
  const read = readerOf(header, fields);
  for await (const lines of source) yield lines.flatMap((line) => rows.add(asText(line))).map(read);
  yield rows.end().map(read);
}

type TextLine = Line & CsvLine;

function asText(line: Line): TextLine {
  const { bytes } = line;
  if (bytes === null) return { ...line, text: '', problem: TOO_LONG };
  return { ...line, text: bytes.toString(), problem: isUtf8(bytes) ? null : UNREADABLE_TEXT };
}

function readerOf(header: readonly string[], fields: readonly NounField[]) {
  const columns = fields.map((field) => ({ ...field, at: header.indexOf(field.name) }));
  const refused = new RefusedCsv(header, fields);
  return ({ lines, text, fields: values, problem }: CsvRow<TextLine>): ReadRow => {
    const [first] = lines;
    if (values === null) return unreadableRow(first, problem, (row, reason) => refused.text(row, reason));
    const last = lines.at(-1) ?? first;
    const isFull = values.length === header.length;
    return {
      line: first.number,
      end: { line: last.number, positionBytes: last.endBytes },
      problem: isFull
        ? refused.problemOf(values)
        : `has ${values.length} fields, but the header has ${header.length}`,
      input: inputOf(columns, values),
      withProblem: (reason) => (isFull ? refused.row(values, reason) : refused.text(text, reason)),
    };
  };
}

interface Column extends NounField {
  /** Its position in the header; -1 = none. */
  at: number;
}

/** An empty optional value is not stated. */
function inputOf(columns: readonly Column[], fields: readonly string[]): object {
  const input: Record<string, unknown> = {};
  for (const { name, json, isRequired, at } of columns) {
    const text = fields[at] ?? '';
    if (text !== '' || isRequired) input[name] = VALUES[json](text);
  }
  return input;
}

/** The value of a cell. A text that is none stays text, and the rules of the record refuse it. */
const VALUES: Readonly<Record<NounField['json'], (text: string) => unknown>> = {
  text: (text) => text,
  integer: int64OrText,
  boolean: (text) => (text === 'true' || text === 'false' ? text === 'true' : text),
  texts: (text) => jsonIn(text) ?? text,
};
