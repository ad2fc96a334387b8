import type { NounField } from '../../nouns.js';
import { csvLine, PROBLEM } from './rows.js';
import { columnOfUnreadable, problemOfUnreadable, UNREADABLE, unreadableText } from './unreadable-rows.js';

/** The lines of a CSV file of refused rows. It has the columns of the input, and the problem. */
export class RefusedCsv {
  private readonly columns: readonly string[];
  private readonly problemAt: number;
  private readonly textAt: number;
  private readonly hasUnreadable: boolean;

  constructor(input: readonly string[], fields: readonly NounField[]) {
    const textColumn = columnOfUnreadable(fields);
    this.hasUnreadable = textColumn === UNREADABLE;
    this.columns = [...input, ...[PROBLEM, textColumn].filter((column) => !input.includes(column))];
    this.problemAt = this.columns.indexOf(PROBLEM);
    this.textAt = this.columns.indexOf(textColumn);
  }

  get header(): string {
    return csvLine(this.columns);
  }

  row(fields: readonly string[], problem: string): string {
    return csvLine(this.columns.map((_, at) => (at === this.problemAt ? problem : (fields[at] ?? ''))));
  }

  /** A row for the text of one that can't be read. All other columns are empty, so the next import refuses it too. */
  text(text: string, problem: string): string {
    const fields = this.columns.map(() => '');
    fields[this.textAt] = this.hasUnreadable ? unreadableText(text) : text;
    return this.row(fields, problem);
  }

  /** The problem of a row of the input that `text` wrote; null = it has been corrected. */
  problemOf(fields: readonly string[]): string | null {
    return this.hasUnreadable ? problemOfUnreadable(fields[this.textAt]) : null;
  }
}
