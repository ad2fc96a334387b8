/** What clients of one project were told, on the clock of `performance.now()` of the process that asked. */
export interface History {
  readonly writes: Write[];
  readonly reads: Read[];
}

/** A pet's values are written one after the other, each larger than the one before; the first creates it. */
export interface Write {
  readonly pet: string;
  readonly value: number;
  readonly begunAt: number;
  /** When the answer arrived, or when it was clear that none will. */
  endedAt: number;
  isAcknowledged: boolean;
  /** Where, for who reads the report. */
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
  /** All pets are on it. Otherwise nothing is said about those that are not. */
  readonly isWhole: boolean;
}
