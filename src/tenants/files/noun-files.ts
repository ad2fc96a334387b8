import type { FieldProblem } from '../../ground/kernel/errors.js';
import type { Beside, Preparation, ProjectRow } from '../../ground/records/record-table.js';
import type { NounDescription } from '../../nouns.js';

/** The parts of a noun that its files need. */
export interface NounFiles {
  /** Its fields are the columns of the files. */
  readonly description: NounDescription;
  /** Has a property for each field, beside those of every record. */
  readonly entity: new () => RecordRow;
  /** The fields of a new record, from a row of a file, by the rules of the doors. Throws `AppError invalid_request`. */
  parse(input: unknown): object;
  /** By field: the text of a value in a file, from its column as text. Absent = it is the same. */
  readonly texts?: Readonly<Record<string, (column: string) => string>>;
  /**
   * For a noun with values that must be unique in the project, or name a record of it: the problems of each record. A record
   * may repeat values of the database, or of a record before it.
   */
  conflicts?(projectId: bigint, records: readonly object[]): Promise<FieldProblem[][]>;
  /** The first step of the transaction that inserts the records. It throws for a conflict that is new. */
  preparationOf?(projectId: bigint, records: readonly object[]): Preparation | null;
  /** Written in that transaction, after the records. */
  readonly besides?: readonly Beside<RecordRow>[];
}

/** The values that the gateway adds to the fields of a record. */
export interface RecordRow extends ProjectRow {
  createdAtMs: number;
}

/** The id and the fields of a record as files have them: integers are digits, a list is JSON; null = not stated. */
export type ListedRecord = { readonly id: string } & Readonly<Record<string, string | null>>;
