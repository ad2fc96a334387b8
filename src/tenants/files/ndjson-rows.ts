import { isUtf8 } from 'node:buffer';
import { parse, stringify } from 'lossless-json';
import { isJsonObject } from '../../ground/kernel/json.js';
import type { NounField } from '../../nouns.js';
import { type Line, PROBLEM, type ReadRow, TOO_LONG, UNREADABLE_TEXT, unreadableRow } from './rows.js';
import { fieldOfUnreadable, problemOfUnreadable, UNREADABLE, unreadableText } from './unreadable-rows.js';

/** The first bytes of every NDJSON file of refused rows. */
export const REFUSED_NDJSON = `{"${PROBLEM}":`;

/** The rows of a text with one JSON value per line; blank lines are skipped. */
export async function* readNdjson(
  source: AsyncIterable<Line[]>,
  fields: readonly NounField[],
): AsyncGenerator<ReadRow[]> {
  const textField = fieldOfUnreadable(fields);
  for await (const lines of source) yield lines.flatMap((line) => rowOf(line, textField) ?? []);
}

/** `textField` takes the text of a row that can't be read. */
function rowOf(line: Line, textField: string): ReadRow | null {
  const { bytes } = line;
  const refused = (text: string, problem: string) => refusedText(text, problem, textField);
  if (bytes === null) return unreadableRow(line, TOO_LONG, refused);
  if (!isUtf8(bytes)) return unreadableRow(line, UNREADABLE_TEXT, refused);
  const text = bytes.toString().trim();
  if (text === '') return null;
  try {
    const input = parse(text, null, readNumber);
    const end = { line: line.number, positionBytes: line.endBytes };
    const withProblem = (problem: string) =>
      isJsonObject(input) ? refusedObject(text, input, problem) : refused(text, problem);
    const problem =
      isJsonObject(input) && textField === UNREADABLE ? problemOfUnreadable(input[UNREADABLE]) : null;
    return { line: line.number, end, problem, input, withProblem };
  } catch (error) {
    // Deep nesting throws a RangeError, without a useful message.
    const reason = error instanceof SyntaxError ? `: ${error.message}` : '';
    return unreadableRow(line, `is no valid JSON${reason}`, refused);
  }
}

/** Keeps every integer exact, as the REST door does. */
function readNumber(text: string): unknown {
  return /^-?\d+$/.test(text) ? BigInt(text) : Number(text);
}

/** The object of a line with its problem as the first field. The other fields stay as they were written. */
function refusedObject(text: string, input: object, problem: string): string {
  // A repeated name would be no valid JSON for the next import.
  let object = text;
  if (Object.hasOwn(input, PROBLEM)) {
    const { [PROBLEM]: _, ...others } = parse(text) as Record<string, unknown>;
    object = stringify(others) as string;
  }
  const fields = object.slice(1, -1).trim();
  return `${REFUSED_NDJSON}${JSON.stringify(problem)}${fields === '' ? '' : ','}${fields}}`;
}

function refusedText(text: string, problem: string, textField: string): string {
  const shown = textField === UNREADABLE ? unreadableText(text) : text;
  return `${REFUSED_NDJSON}${JSON.stringify(problem)},"${textField}":${JSON.stringify(shown)}}`;
}
