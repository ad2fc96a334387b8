import { AppError, type FieldProblem } from '../../ground/kernel/errors.js';
import type { NounFiles } from './noun-files.js';
import type { Position, ReadRow } from './rows.js';

const MAX_RECORDS = 1_000;
/** Bounds a batch with mostly refused rows. */
const MAX_ROWS = 2_000;
/** Bounds the text of the refused rows; each can be as long as `MAX_ROW_BYTES`. */
const MAX_REFUSED_CHARACTERS = 1_000_000;

export interface RefusedRow {
  /** The line number and the reasons, for people. */
  problem: string;
  /** The row with its problem, as a line of a file of the same format. */
  text: string;
}

/** The rows of one transaction, small enough that other writers hardly wait. */
export class RowBatch {
  records: object[] = [];
  /** The rows of the records, if a record can be refused later. */
  private rows: ReadRow[] = [];
  readonly refused: RefusedRow[] = [];
  private refusedCharacters = 0;

  constructor(
    private readonly noun: Pick<NounFiles, 'parse' | 'conflicts'>,
    public end: Position,
  ) {}

  get isFull(): boolean {
    const rows = this.records.length + this.refused.length;
    return (
      this.records.length >= MAX_RECORDS ||
      rows >= MAX_ROWS ||
      this.refusedCharacters >= MAX_REFUSED_CHARACTERS
    );
  }

  /** Adds the row, or refuses it by the same rules as the doors. */
  add(row: ReadRow): void {
    this.end = row.end;
    const errors = row.problem === null ? this.accept(row) : [{ field: 'row', message: row.problem }];
    if (errors.length > 0) this.refuse(row, errors);
  }

  /** Refuses the records that repeat a value which must be unique. */
  async refuseConflicts(projectId: bigint): Promise<void> {
    const conflicts = (await this.noun.conflicts?.(projectId, this.records)) ?? [];
    const { rows } = this;
    const isFree = (_: unknown, at: number) => conflicts[at] === undefined || conflicts[at].length === 0;
    this.records = this.records.filter(isFree);
    this.rows = rows.filter(isFree);
    for (const [at, row] of rows.entries()) {
      if (!isFree(row, at)) this.refuse(row, conflicts[at] ?? []);
    }
  }

  private refuse(row: ReadRow, errors: readonly FieldProblem[]): void {
    const reasons = errors.map(({ field, message }) => `${field} ${message}`);
    const problem = `line ${row.line}: ${reasons.join('; ')}`;
    const text = row.withProblem(problem);
    this.refused.push({ problem, text });
    this.refusedCharacters += text.length;
  }

  private accept(row: ReadRow): FieldProblem[] {
    try {
      this.records.push(this.noun.parse(row.input));
      if (this.noun.conflicts) this.rows.push(row);
      return [];
    } catch (error) {
      if (error instanceof AppError && error.errors) return error.errors;
      throw error;
    }
  }
}
