import type { Line, Position } from './pet-import-lines.js';

/** One row of a file, offered as a new pet and not yet checked against the rules for pets. */
export interface ReadRow {
  /** On which it begins; the first is 1. */
  line: number;
  end: Position;
  /** Why it can't be read at all; null = `input` is what it says. */
  problem: string | null;
  input: unknown;
  /** The row as JSON, for the report of refused rows. */
  json(): string;
}

export const TOO_LONG = 'is longer than 100,000 bytes';
export const UNREADABLE_TEXT = 'is not valid UTF-8';

const SHOWN_BYTES = 1_000;

/** A line that is no row. */
export function unreadableRow({ number, endBytes, bytes }: Line, problem: string): ReadRow {
  return {
    line: number,
    end: { line: number, positionBytes: endBytes },
    problem,
    input: null,
    json: () => JSON.stringify(bytes?.toString('utf8', 0, SHOWN_BYTES) ?? null),
  };
}
