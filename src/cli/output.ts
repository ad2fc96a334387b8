import type { FieldProblem } from '../ground/kernel/errors.js';

export const EXIT = { ok: 0, refused: 1, usage: 2 } as const;

interface TextSink {
  write(text: string): unknown;
}

/** The output of a command: with `--json` one object on standard output, otherwise text for people. */
export class Output {
  /** The exit code of a command that throws no error. */
  exitCode: number = EXIT.ok;

  constructor(
    readonly isJson: boolean,
    private readonly streams: { stdout: TextSink; stderr: TextSink } = process,
  ) {}

  get showsProgress(): boolean {
    return process.stderr.isTTY && !this.isJson;
  }

  write(text: string): void {
    this.streams.stdout.write(text);
  }

  /** The result of a command, in both forms. Called once. */
  result(json: object, text: string): void {
    this.write(`${this.isJson ? toJson(json) : printable(text)}\n`);
  }

  fail(code: string, message: string, errors?: readonly FieldProblem[]): void {
    if (this.isJson) this.write(`${toJson({ error: { code, message, ...(errors ? { errors } : {}) } })}\n`);
    else this.note(message);
  }

  /** A note on standard error, only without `--json`. */
  note(text: string): void {
    if (!this.isJson) this.streams.stderr.write(`${printable(text)}\n`);
  }
}

/** A number for people: `1,234,567`. */
export function grouped(count: number): string {
  return Math.round(count).toLocaleString('en-US');
}

export function isoTime(atMs: number | null): string | null {
  return atMs === null ? null : new Date(atMs).toISOString();
}

/** Aligned columns with a header line; without a row the text `none`. */
export function table(rows: readonly Record<string, string | number | null>[], none = ''): string {
  if (rows.length === 0) return none;
  const columns = Object.keys(rows[0] ?? {});
  const lines = [
    columns.map((column) => column.toUpperCase()),
    ...rows.map((row) =>
      columns.map((column) => printable(String(row[column] ?? '–')).replaceAll('\n', '�')),
    ),
  ];
  const widths = columns.map((_, at) => Math.max(...lines.map((line) => [...(line[at] ?? '')].length)));
  return lines
    .map((line) =>
      line
        .map((cell, at) => cell + ' '.repeat((widths[at] ?? 0) - [...cell].length))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Replaces control characters. Text from clients and DNS must not control the terminal, nor reverse the direction of text. */
export function printable(text: string): string {
  return text.replace(/[^\P{Cc}\n]|[\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/gu, '�');
}

/** Ids have 64 bits, so they become strings: a JSON number could lose digits. */
function toJson(value: object): string {
  return JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? String(item) : (item as unknown)));
}
