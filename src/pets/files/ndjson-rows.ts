import { isUtf8 } from 'node:buffer';
import { parse, stringify } from 'lossless-json';
import { type Line, PROBLEM, type ReadRow, TOO_LONG, UNREADABLE_TEXT, unreadableRow } from './rows.js';

/** The first bytes of every NDJSON file of refused rows. */
export const REFUSED_NDJSON = `{"${PROBLEM}":`;

/** The rows of a text with one JSON value per line; blank lines are skipped. */
export async function* readNdjson(source: AsyncIterable<Line[]>): AsyncGenerator<ReadRow[]> {
  for await (const lines of source) yield lines.flatMap((line) => rowOf(line) ?? []);
}

function rowOf(line: Line): ReadRow | null {
  const { bytes } = line;
  if (bytes === null) return unreadableRow(line, TOO_LONG, refusedText);
  if (!isUtf8(bytes)) return unreadableRow(line, UNREADABLE_TEXT, refusedText);
  const text = bytes.toString().trim();
  if (text === '') return null;
  try {
    const input = parse(text, null, readNumber);
    const end = { line: line.number, positionBytes: line.endBytes };
    const withProblem = (problem: string) => refusedValue(text, input, problem);
    return { line: line.number, end, problem: null, input, withProblem };
  } catch (error) {
    // Deep nesting throws a RangeError, without a useful message.
    const reason = error instanceof SyntaxError ? `: ${error.message}` : '';
    return unreadableRow(line, `is no valid JSON${reason}`, refusedText);
  }
}

/** Keeps every integer exact, as the REST door does. */
function readNumber(text: string): unknown {
  return /^-?\d+$/.test(text) ? BigInt(text) : Number(text);
}

/** The object of a line with its problem as the first field. The other fields stay as they were written. */
function refusedValue(text: string, input: unknown, problem: string): string {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return refusedText(text, problem);
  // A repeated name would be no valid JSON for the next import.
  const object = Object.hasOwn(input, PROBLEM) ? withoutProblem(text) : text;
  const fields = object.slice(1, -1).trim();
  return `${REFUSED_NDJSON}${JSON.stringify(problem)}${fields === '' ? '' : ','}${fields}}`;
}

function refusedText(text: string, problem: string): string {
  return `${REFUSED_NDJSON}${JSON.stringify(problem)},"row":${JSON.stringify(text)}}`;
}

function withoutProblem(text: string): string {
  const { [PROBLEM]: _, ...fields } = parse(text) as Record<string, unknown>;
  return stringify(fields) as string;
}
