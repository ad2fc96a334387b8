import type { ChangeKind, CommittedChange, Lineage, SeenRecord, Snapshot } from '../evidence.js';
import { isShown, kindOf } from '../evidence.js';
import { applyTo, recordOf } from '../history.js';

const PAGE_RECORDS = 3;
const BATCH_CHANGES = 4;

/** A place in the log: the number of a change and its time, which differs after a restore. */
export interface Position {
  readonly number: number;
  readonly atMs: number;
}

export interface LoggedChange extends CommittedChange, Position {
  /** The time of the change before it: a reader notices what is missing between two changes. */
  readonly previousAtMs: number;
}

interface Draft {
  readonly before: SeenRecord | null;
  readonly after: SeenRecord | null;
}

/** The writes of one transaction, which nobody else sees before its commit. */
export interface ModelTransaction {
  readonly project: ModelProject;
  readonly drafts: Map<string, Draft>;
  numbers: Position[] | null;
}

/** A project of the model: its committed state, the locks of open transactions, and the truth for the checker. */
export class ModelProject {
  readonly table = new Map<string, SeenRecord>();
  /** Ascending. Trimming removes the oldest. */
  kept: LoggedChange[] = [];
  counter: Position = { number: 0, atMs: 0 };
  readonly rowLocks = new Map<string, ModelTransaction>();
  counterLock: ModelTransaction | null = null;
  committed: CommittedChange[] = [];
  snapshots: Snapshot[] = [];
  readonly lineages: Lineage[] = [];

  constructor(readonly name: string) {
    this.beginLineage([]);
  }

  beginLineage(changes: readonly CommittedChange[]): void {
    this.committed = [...changes];
    this.snapshots = [];
    const { name: project, committed, snapshots } = this;
    this.lineages.push({ project, start: cursorOf({ number: 0, atMs: 0 }), changes: committed, snapshots });
  }
}

export interface ModelPage {
  readonly records: readonly SeenRecord[];
  readonly hasNextPage: boolean;
  /** Of the last change before the page was read. */
  readonly cursor: string;
}

export interface ModelChange {
  readonly cursor: string;
  readonly kind: ChangeKind;
  readonly record: SeenRecord;
}

/** The changes behind a cursor; null = the cursor is gone. */
export type Batch = { readonly changes: ModelChange[]; readonly examined: string } | null;

/**
 * The log as it should be, in memory. Each method is one atomic step, and a method that returns false has to wait for a
 * lock. Subclasses are wrong in one point.
 */
export class ModelLog {
  nowMs = 1;

  begin(project: ModelProject): ModelTransaction {
    return { project, drafts: new Map(), numbers: null };
  }

  /** Locks the row. */
  write(transaction: ModelTransaction, id: string, after: SeenRecord | null): boolean {
    const { project, drafts } = transaction;
    const holder = project.rowLocks.get(id) ?? transaction;
    if (holder !== transaction) return false;
    const before = project.table.get(id) ?? null;
    if (before?.text === after?.text) return true;
    project.rowLocks.set(id, transaction);
    drafts.set(id, { before, after });
    return true;
  }

  /** Draws the numbers of the changes as the last step before the commit, and locks the counter until then. */
  draw(transaction: ModelTransaction): boolean {
    const { project } = transaction;
    if (project.counterLock !== null) return false;
    project.counterLock = transaction;
    transaction.numbers = this.numbersAfter(project.counter.number, transaction);
    return true;
  }

  commit(transaction: ModelTransaction): void {
    const { project, drafts, numbers } = transaction;
    for (const [index, draft] of [...drafts.values()].entries()) {
      const position = numbers?.[index] as Position;
      const change = {
        ...draft,
        ...position,
        cursor: cursorOf(position),
        previousAtMs: project.counter.atMs,
      };
      project.counter = position;
      project.kept.push(change);
      project.committed.push(change);
      applyTo(project.table, change);
    }
    this.rollback(transaction);
  }

  /** Ends the transaction; without a commit before, nothing was written. */
  rollback(transaction: ModelTransaction): void {
    const { project } = transaction;
    for (const [id, holder] of project.rowLocks) if (holder === transaction) project.rowLocks.delete(id);
    if (project.counterLock === transaction) project.counterLock = null;
  }

  list({ table, counter }: ModelProject, afterId: string, status: string | null): ModelPage {
    const behind = [...table.values()].filter(
      (record) => record.id > afterId && (status === null || record.status === status),
    );
    behind.sort((a, b) => (a.id < b.id ? -1 : 1));
    const records = behind.slice(0, PAGE_RECORDS);
    return { records, hasNextPage: behind.length > records.length, cursor: cursorOf(counter) };
  }

  /** Called a step after `list`. */
  cursorOfPage(_project: ModelProject, page: ModelPage): string {
    return page.cursor;
  }

  changes(project: ModelProject, after: string, status: string | null): Batch {
    const behind = this.behind(project, positionOf(after))?.slice(0, BATCH_CHANGES);
    if (!behind) return null;
    const shown = behind.filter((change) => this.isShown(change, status));
    return { changes: shown.map(toModelChange), examined: behind.at(-1)?.cursor ?? after };
  }

  /** The first messages of a new stream, before it looks at the log. */
  greeting(_project: ModelProject, _after: string): ModelChange[] {
    return [];
  }

  /** A wake arrives while the stream is looking: true = it looks again, instead of waiting for the next wake. */
  hearsWakeWhileLooking(): boolean {
    return true;
  }

  /** All changes behind the position; null = some are missing between. */
  protected behind({ kept, counter }: ModelProject, { number, atMs }: Position): LoggedChange[] | null {
    const index = kept.findIndex((change) => change.number > number);
    const next = kept[index];
    if (!next) return number === counter.number && atMs === counter.atMs ? [] : null;
    return next.number === number + 1 && next.previousAtMs === atMs ? kept.slice(index) : null;
  }

  protected isShown(change: LoggedChange, status: string | null): boolean {
    return isShown(change, status);
  }

  protected numbersAfter(number: number, { drafts }: ModelTransaction): Position[] {
    return [...drafts].map((_, index) => ({ number: number + index + 1, atMs: this.nowMs }));
  }
}

export function toModelChange(change: LoggedChange): ModelChange {
  return { cursor: change.cursor, kind: kindOf(change), record: recordOf(change) };
}

export function cursorOf({ number, atMs }: Position): string {
  return `${number}@${atMs}`;
}

export function positionOf(cursor: string): Position {
  const [number, atMs] = cursor.split('@').map(Number);
  return { number: number as number, atMs: atMs as number };
}
