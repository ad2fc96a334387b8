/** The answers to the clients of one project, on the `performance.now()` clock of the asking process. */
export interface History {
  readonly writes: Write[];
  readonly reads: Read[];
}

/** A toy's values are written one after the other and grow; the first write creates the toy. */
export interface Write {
  readonly toy: string;
  readonly value: number;
  readonly begunAt: number;
  /** The time of the answer, or of the certainty that there is none. */
  endedAt: number;
  isAcknowledged: boolean;
  /** Whether it deleted the toy; it is then the toy's last write. */
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
  /** Whether all toys are on it. Otherwise a missing toy means nothing. */
  readonly isWhole: boolean;
}
