import { isUtf8 } from 'node:buffer';
import { parse } from 'lossless-json';
import type { Line } from './pet-import-lines.js';
import { type ReadRow, TOO_LONG, UNREADABLE_TEXT, unreadableRow } from './pet-import-row.js';

/** The rows of a text with one JSON value per line; blank lines are none. */
export async function* readNdjson(source: AsyncIterable<Line[]>): AsyncGenerator<ReadRow[]> {
  for await (const lines of source) yield lines.flatMap((line) => rowOf(line) ?? []);
}

function rowOf(line: Line): ReadRow | null {
  const { bytes } = line;
  if (bytes === null) return unreadableRow(line, TOO_LONG);
  if (!isUtf8(bytes)) return unreadableRow(line, UNREADABLE_TEXT);
  const text = bytes.toString().trim();
  if (text === '') return null;
  try {
    const input = parse(text, null, readNumber);
    const end = { line: line.number, positionBytes: line.endBytes };
    return { line: line.number, end, problem: null, input, json: () => text };
  } catch (error) {
    // Also a RangeError, from nesting deeper than the stack.
    const reason = error instanceof SyntaxError ? `: ${error.message}` : '';
    return unreadableRow(line, `is no valid JSON${reason}`);
  }
}

/** As at the REST door: every integer exact. */
function readNumber(text: string): unknown {
  return /^-?\d+$/.test(text) ? BigInt(text) : Number(text);
}
