/** The results of a run: the committed changes, and the messages that each subscriber received. */
export interface Evidence {
  /** The lineages of a project are in their order; the last one is alive. */
  readonly lineages: readonly Lineage[];
  readonly traces: readonly Trace[];
}

/** A record as clients see it. */
export interface SeenRecord {
  readonly id: string;
  /** The value that filters compare. */
  readonly status: string | null;
  /** All fields, compared byte for byte. */
  readonly text: string;
}

export type ChangeKind = 'CREATED' | 'UPDATED' | 'DELETED';

export interface CommittedChange {
  readonly cursor: string;
  readonly number: number;
  /** Null = the change created the record. */
  readonly before: SeenRecord | null;
  /** Null = the change deleted the record. */
  readonly after: SeenRecord | null;
}

/** The committed changes of a project up to a restore or to the end. After a restore, a lineage repeats what was kept. */
export interface Lineage {
  readonly project: string;
  /** The cursor before the first change, when the project had no records. */
  readonly start: string;
  /** In the order of the commits. */
  readonly changes: readonly CommittedChange[];
  readonly snapshots: readonly Snapshot[];
}

/** All records of a project, read in one transaction with the counter of its changes. */
export interface Snapshot {
  readonly cursor: string;
  readonly records: readonly SeenRecord[];
}

export interface Trace {
  readonly subscriber: string;
  readonly project: string;
  /** The filter of lists and streams; null = all records. */
  readonly status: string | null;
  readonly steps: readonly Step[];
}

/** A subscriber may lose what it received after its last acknowledgement; then it opens there again. */
export type Step =
  | ListedPage
  | { readonly type: 'opened'; readonly after: string }
  | ReceivedChange
  /** The server has looked at all changes up to the cursor. */
  | { readonly type: 'examined'; readonly cursor: string }
  /** The subscriber's copy is complete up to the cursor, and stored with it. */
  | { readonly type: 'acknowledged'; readonly cursor: string }
  /** The cursor of the subscriber is not known any more. */
  | { readonly type: 'gone' };

export interface ListedPage {
  readonly type: 'page';
  /** The first page of a list begins a new copy, which follows from the cursor of this page. */
  readonly isFirst: boolean;
  readonly cursor: string;
  readonly records: readonly SeenRecord[];
}

export interface ReceivedChange {
  readonly type: 'change';
  readonly cursor: string;
  readonly kind: ChangeKind;
  /** The record after the change; of a deleted one the last state. */
  readonly record: SeenRecord;
}

export function kindOf({ before, after }: CommittedChange): ChangeKind {
  if (before === null) return 'CREATED';
  return after === null ? 'DELETED' : 'UPDATED';
}

/** Whether a filter shows the change: the record matched before or after it. */
export function isShown({ before, after }: CommittedChange, status: string | null): boolean {
  return status === null || before?.status === status || after?.status === status;
}

/** The record in the filtered table after the change; null = it is not there. */
export function shownAfter({ after }: CommittedChange, status: string | null): SeenRecord | null {
  return after && (status === null || after.status === status) ? after : null;
}
