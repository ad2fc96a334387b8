/** The answers to the clients of one project, on the `performance.now()` clock of the asking process. */
export interface History {
  readonly writes: Write[];
  readonly reads: Read[];
}

/** A pet's values are written one after the other and grow; the first write creates the pet. */
export interface Write {
  readonly pet: string;
  readonly value: number;
  readonly begunAt: number;
  /** The time of the answer, or of the certainty that there is none. */
  endedAt: number;
  isAcknowledged: boolean;
  /** Whether it deleted the pet; it is then the pet's last write. */
  readonly isDeletion: boolean;
  /** The place of the write, for the reader of the report. */
  readonly at: string;
}

export interface Read {
  readonly begunAt: number;
  readonly endedAt: number;
  readonly page: Page;
  readonly at: string;
}

export interface Page {
  readonly values: ReadonlyMap<string, number>;
  /** Whether all pets are on it. Otherwise a missing pet means nothing. */
  readonly isWhole: boolean;
}
