import type { FieldProblem } from '../errors.js';

export const EXIT = { ok: 0, refused: 1, usage: 2 } as const;

/** What a command says: with `--json` one object on standard output, otherwise text for a person. */
export class Output {
  constructor(readonly isJson: boolean) {}

  /** The result of a command, in both forms. Called once. */
  result(json: object, text: string): void {
    console.log(this.isJson ? toJson(json) : printable(text));
  }

  fail(code: string, message: string, errors?: readonly FieldProblem[]): void {
    if (this.isJson) console.log(toJson({ error: { code, message, ...(errors ? { errors } : {}) } }));
    else console.error(printable(message));
  }

  /** Something on the way, for a person only. */
  note(text: string): void {
    if (!this.isJson) console.error(printable(text));
  }
}

/** A number of a person's size: `1,234,567`. */
export function grouped(count: number): string {
  return Math.round(count).toLocaleString('en-US');
}

export function isoTime(atMs: number | null): string | null {
  return atMs === null ? null : new Date(atMs).toISOString();
}

/** Columns under their names, aligned. */
export function table(rows: readonly Record<string, string | number | null>[]): string {
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

/** Text from clients and from DNS must not be able to steer the terminal, nor to turn the order of what it shows. */
export function printable(text: string): string {
  return text.replace(/[^\P{Cc}\n]|[\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/gu, '�');
}

/** Ids have 64 bits: they are strings, so that no reader loses digits. */
function toJson(value: object): string {
  return JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? String(item) : (item as unknown)));
}
