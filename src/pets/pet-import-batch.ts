import { AppError, type FieldProblem } from '../errors.js';
import { type NewPet, parseNewPet } from './pet.rules.js';
import type { Position } from './pet-import-lines.js';
import type { ReadRow } from './pet-import-row.js';

const MAX_PETS = 1_000;
/** Bounds a batch of hardly anything but refused rows. */
const MAX_ROWS = 2_000;
/** Bounds the text of the refused rows, each of which may be as long as `MAX_ROW_BYTES`. */
const MAX_REFUSED_CHARACTERS = 1_000_000;

export interface RefusedRow {
  line: number;
  errors: FieldProblem[];
  /** The row itself, as JSON. */
  json: string;
}

/** Rows that go into the database in one transaction, short enough that other writers hardly wait. */
export class PetBatch {
  readonly pets: NewPet[] = [];
  readonly refused: RefusedRow[] = [];
  private refusedCharacters = 0;

  constructor(public end: Position) {}

  get isFull(): boolean {
    const rows = this.pets.length + this.refused.length;
    return (
      this.pets.length >= MAX_PETS || rows >= MAX_ROWS || this.refusedCharacters >= MAX_REFUSED_CHARACTERS
    );
  }

  /** Takes the row in, or refuses it by the rules of the doors. */
  add(row: ReadRow): void {
    this.end = row.end;
    const errors = row.problem === null ? this.accept(row.input) : [{ field: 'row', message: row.problem }];
    if (errors.length === 0) return;
    const json = row.json();
    this.refused.push({ line: row.line, errors, json });
    this.refusedCharacters += json.length;
  }

  private accept(input: unknown): FieldProblem[] {
    try {
      this.pets.push(parseNewPet(input));
      return [];
    } catch (error) {
      if (error instanceof AppError && error.errors) return error.errors;
      throw error;
    }
  }
}
