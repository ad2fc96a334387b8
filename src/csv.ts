/** A line of a CSV text. */
export interface CsvLine {
  /** Lines count from 1. */
  readonly number: number;
  /** Without its line end. */
  readonly text: string;
  /** `\n`, `\r\n` or `\r`; empty = the end of the text. */
  readonly lineEnd: string;
  /** The reason why it can't be read; null = it can. */
  readonly problem: string | null;
}

/** A row: `fields`, or the `problem` of its only line. */
export type CsvRow<Line extends CsvLine> = {
  readonly lines: readonly [Line, ...Line[]];
  /** As it was written, without its line end. */
  readonly text: string;
} & (
  | { readonly fields: readonly string[]; readonly problem: null }
  | { readonly fields: null; readonly problem: string }
);

/** The doors accept no larger body. */
const MAX_ROW_CHARACTERS = 100_000;
const NOT_CLOSED = 'has an unclosed quote, or a quote in a wrong place';

/**
 * Joins lines to the rows of a CSV file (RFC 4180), because a quoted field can span lines; blank rows are skipped. An
 * unreadable row costs only its first line: a stray quote seems to join several rows, so the lines after it are read again.
 * A row ends where the number of quotes is even, as quotes in a field come in pairs. With `csv-parse` 7 an
 * unclosed quote costs all later rows, and invalid UTF-8 is imported.
 */
export class CsvRows<Line extends CsvLine> {
  /** The lines of a row that has not ended. */
  private lines: Line[] = [];
  private characters = 0;
  private isQuoted = false;

  /** The rows that the line completes. */
  add(line: Line): CsvRow<Line>[] {
    const { text, problem } = line;
    this.lines.push(line);
    if (problem !== null) return this.refuseFirst(this.lines.length === 1 ? problem : NOT_CLOSED);
    this.characters += text.length + 1;
    if (this.characters > MAX_ROW_CHARACTERS + 1) return this.refuseFirst(NOT_CLOSED);
    for (let quote = text.indexOf('"'); quote !== -1; quote = text.indexOf('"', quote + 1)) {
      this.isQuoted = !this.isQuoted;
    }
    return this.isQuoted ? [] : this.complete();
  }

  /** The rows of the lines that are left at the end of the file. */
  end(): CsvRow<Line>[] {
    return this.lines.length === 0 ? [] : [...this.refuseFirst(NOT_CLOSED), ...this.end()];
  }

  private complete(): CsvRow<Line>[] {
    const last = this.lines.at(-1) as Line;
    const before = this.lines.slice(0, -1).map((line) => line.text + line.lineEnd);
    const text = before.join('') + last.text;
    const fields = csvFields(text);
    if (!fields) return this.refuseFirst(NOT_CLOSED);
    const lines = this.take();
    return text.trim() === '' ? [] : [{ lines, text, fields, problem: null }];
  }

  /** Reads each line again at most once: a line with an even number of quotes is then a complete row. */
  private refuseFirst(problem: string): CsvRow<Line>[] {
    const [first, ...others] = this.take();
    return [
      { lines: [first], text: first.text, fields: null, problem },
      ...others.flatMap((line) => this.add(line)),
    ];
  }

  private take(): [Line, ...Line[]] {
    const { lines } = this;
    this.lines = [];
    this.characters = 0;
    this.isQuoted = false;
    return lines as [Line, ...Line[]];
  }
}

/** A field, quoted or not, and what follows it. */
const FIELD = /(?:"([^"]*(?:""[^"]*)*)"|([^",]*))(,|$)/y;

/** The fields of a row; null = a quote in a wrong place. */
export function csvFields(text: string): string[] | null {
  const fields: string[] = [];
  FIELD.lastIndex = 0;
  for (;;) {
    const [, quoted, plain, end] = FIELD.exec(text) ?? [];
    if (end === undefined) return null;
    fields.push(quoted?.replaceAll('""', '"') ?? (plain as string));
    if (end === '') return fields;
  }
}
