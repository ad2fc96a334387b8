import type { FieldProblem } from '../../ground/kernel/errors.js';
import type { NounDescription } from '../../nouns.js';

/** The parts of a noun that its files need. */
export interface NounFiles {
  /** Its fields are the columns of the files. */
  readonly description: NounDescription;
  /** Has a property for each field, beside those of every record. */
  readonly entity: new () => RecordRow;
  /** The fields of a new record, from a row of a file, by the rules of the doors. Throws `AppError invalid_request`. */
  parse(input: unknown): object;
  /**
   * For a noun with values that must be unique in the project: the problem of each record, null = none. A record may repeat
   * a value of the database, or of a record before it.
   */
  conflicts?(projectId: bigint, records: readonly object[]): Promise<(FieldProblem | null)[]>;
  /** A page of all records of the project, in the order of their ids. */
  page(projectId: bigint, page: RecordPage): Promise<{ records: ListedRecord[]; hasNextPage: boolean }>;
}

/** The values that the gateway adds to the fields of a record. */
export interface RecordRow {
  projectId: bigint;
  id: bigint;
  createdAtMs: number;
}

export interface RecordPage {
  pageSize: number;
  /** The page begins behind this id; null = at the first record. */
  afterId: bigint | null;
  orderBy: 'OLDEST' | 'NEWEST';
}

/** The id and the fields of a record. Integers are strings of digits; null = not stated. */
export type ListedRecord = { readonly id: string } & Readonly<Record<string, string | null>>;
