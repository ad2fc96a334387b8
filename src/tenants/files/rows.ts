/** A position in a text: the last finished line, and the start of the next one in bytes. */
export interface Position {
  line: number;
  positionBytes: number;
}

export const BEGINNING: Position = { line: 0, positionBytes: 0 };

/** The doors accept no larger body. */
const MAX_ROW_BYTES = 100_000;

/** A line without its line end: LF, CRLF, or CR, as Excel for Mac writes it; a file may mix them. */
export interface Line {
  number: number;
  lineEnd: string;
  /** The start of the next line. */
  endBytes: number;
  /** Null = longer than `MAX_ROW_BYTES`. */
  bytes: Buffer | null;
}

/** Objects of larger groups outlive V8's young generation, and the process grows by half. */
const GROUP_LINES = 500;
const LINE_FEED = 10;
const RETURN = 13;
const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

/** The lines of a text, in groups as they arrive. Keeps at most one chunk and one line in memory. */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
  { line, positionBytes }: Position,
): AsyncGenerator<Line[]> {
  let begun: Buffer[] = [];
  let begunBytes = 0;
  const begin = (part: Buffer) => {
    begunBytes += part.length;
    if (begunBytes <= MAX_ROW_BYTES) begun.push(part);
    else begun = [];
  };
  const finish = (lineEnd: string): Line => {
    const isWhole = begunBytes <= MAX_ROW_BYTES;
    const bytes = begun.length === 1 ? (begun[0] as Buffer) : Buffer.concat(begun);
    const hasMark = positionBytes === 0 && bytes.subarray(0, 3).equals(BYTE_ORDER_MARK);
    line += 1;
    positionBytes += begunBytes + lineEnd.length;
    begun = [];
    begunBytes = 0;
    return {
      number: line,
      lineEnd,
      endBytes: positionBytes,
      bytes: isWhole ? bytes.subarray(hasMark ? BYTE_ORDER_MARK.length : 0) : null,
    };
  };

  for await (const chunk of withWholeLineEnds(chunks)) {
    let lines: Line[] = [];
    let from = 0;
    let feed = chunk.indexOf(LINE_FEED);
    let back = chunk.indexOf(RETURN);
    while (feed !== -1 || back !== -1) {
      const isReturn = back !== -1 && (feed === -1 || back < feed);
      const end = isReturn ? back : feed;
      const lineEnd = !isReturn ? '\n' : feed === back + 1 ? '\r\n' : '\r';
      begin(chunk.subarray(from, end));
      lines.push(finish(lineEnd));
      from = end + lineEnd.length;
      // A search for what the chunk does not have would read all of it for each line.
      if (feed !== -1 && feed < from) feed = chunk.indexOf(LINE_FEED, from);
      if (back !== -1 && back < from) back = chunk.indexOf(RETURN, from);
      if (lines.length < GROUP_LINES) continue;
      yield lines;
      lines = [];
    }
    if (from < chunk.length) begin(chunk.subarray(from));
    if (lines.length > 0) yield lines;
  }
  if (begunBytes > 0) yield [finish('')];
}

/** The same bytes, in chunks of which only the last may end between CR and LF. */
async function* withWholeLineEnds(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    held = bytes.subarray(bytes.at(-1) === RETURN ? -1 : bytes.length);
    yield bytes.subarray(0, bytes.length - held.length);
  }
  yield held;
}

/** A row of a file, not yet checked against the rules of its noun. */
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
    withProblem: (reason) => refused(bytes?.toString() ?? '', reason),
  };
}

export const FILE_FORMATS = ['csv', 'ndjson'] as const;
export type FileFormat = (typeof FILE_FORMATS)[number];

/** The format that a file's name says; null = none. */
export function formatOfName(path: string): FileFormat | null {
  if (/\.csv$/i.test(path)) return 'csv';
  return /\.(ndjson|jsonl)$/i.test(path) ? 'ndjson' : null;
}

/** A row as CSV (RFC 4180), without a line feed. The import reads every field back unchanged. */
export function csvLine(fields: readonly string[]): string {
  // Blanks at an end are quoted too: some programs remove them otherwise.
  const quoted = (field: string) =>
    /[",\r\n]|^\s|\s$/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
  return fields.map(quoted).join(',');
}
