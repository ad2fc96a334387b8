import type { Line, Position } from './lines.js';

/** A row of a file, not yet checked against the rules for pets. */
export interface ReadRow {
  /** The row's first line; lines count from 1. */
  line: number;
  end: Position;
  /** The reason why the row can't be read; null = `input` is its content. */
  problem: string | null;
  input: unknown;
  /** The row with `problem`, as a line of a file of the same format. An import refuses it until the row is corrected. */
  withProblem(problem: string): string;
}

/** The column or field with the reason of a refusal. An import ignores it. */
export const PROBLEM = 'problem';
export const TOO_LONG = 'is longer than 100,000 bytes';
export const UNREADABLE_TEXT = 'is not valid UTF-8';

/** A row for a line that can't be read. `refused` returns the line's text and a problem in the file's format. */
export function unreadableRow(
  { number, endBytes, bytes }: Line,
  problem: string,
  refused: (text: string, problem: string) => string,
): ReadRow {
  return {
    line: number,
    end: { line: number, positionBytes: endBytes },
    problem,
    input: null,
    withProblem: (reason) => refused(bytes?.toString().replace(/\r$/, '') ?? '', reason),
  };
}
