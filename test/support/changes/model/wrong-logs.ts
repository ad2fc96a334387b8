import type { FindingKind } from '../finding.js';
import {
  cursorOf,
  type LoggedChange,
  type ModelChange,
  ModelLog,
  type ModelProject,
  type ModelTransaction,
  type Position,
  toModelChange,
} from './model-log.js';

/** Reads what is behind a number, whatever is missing between, as a reader does whose cursor is a column. */
class TrustingLog extends ModelLog {
  protected override behind({ kept, counter }: ModelProject, { number }: Position): LoggedChange[] | null {
    const isTooOld = kept[0] !== undefined && kept[0].number > number + 1;
    return isTooOld || number > counter.number ? null : kept.filter((change) => change.number > number);
  }
}

/** Numbers come from a sequence, which locks nothing: a later number can be committed first. */
class LateCommitLog extends TrustingLog {
  private readonly sequences = new Map<ModelProject, number>();

  override draw(transaction: ModelTransaction): boolean {
    const last = this.sequences.get(transaction.project) ?? 0;
    transaction.numbers = this.numbersAfter(last, transaction);
    this.sequences.set(transaction.project, last + transaction.drafts.size);
    return true;
  }

  override commit(transaction: ModelTransaction): void {
    super.commit(transaction);
    const { project } = transaction;
    project.kept.sort((a, b) => a.number - b.number);
    project.counter = project.kept.at(-1) ?? project.counter;
  }
}

/** Reads the counter without a lock: two transactions can draw the same number. */
class ReusedNumberLog extends TrustingLog {
  override draw(transaction: ModelTransaction): boolean {
    transaction.numbers = this.numbersAfter(transaction.project.counter.number, transaction);
    return true;
  }
}

/** A stream that finds nothing waits for the next wake, also when one came while it was looking. */
class LostWakeLog extends ModelLog {
  override hearsWakeWhileLooking(): boolean {
    return false;
  }
}

/** The filter sees only the record after the change. */
class HiddenLeaverLog extends ModelLog {
  protected override isShown({ after, before }: LoggedChange, status: string | null): boolean {
    return status === null || (after ?? before)?.status === status;
  }
}

/** A resumed stream begins with the change that its cursor names. */
class RepeatingLog extends ModelLog {
  override greeting({ kept }: ModelProject, after: string): ModelChange[] {
    return kept.filter(({ cursor }) => cursor === after).map(toModelChange);
  }
}

/** Behind a cursor older than what is kept comes the oldest change. */
class GapAfterTrimLog extends ModelLog {
  protected override behind({ kept }: ModelProject, { number }: Position): LoggedChange[] {
    return kept.filter((change) => change.number > number);
  }
}

/** The cursor of a list is read after its page. */
class LateCursorLog extends ModelLog {
  override cursorOfPage(project: ModelProject): string {
    return cursorOf(project.counter);
  }
}

interface WrongLog {
  readonly what: string;
  readonly make: () => ModelLog;
  /** The checker finds at least these. */
  readonly kinds: readonly FindingKind[];
}

export const WRONG_LOGS: readonly [WrongLog, ...WrongLog[]] = [
  {
    what: 'late commit',
    make: () => new LateCommitLog(),
    kinds: ['missing change', 'out of order', 'copy unlike the table'],
  },
  {
    what: 'reused number',
    make: () => new ReusedNumberLog(),
    kinds: ['number used twice', 'missing change', 'copy unlike the table'],
  },
  { what: 'lost wake', make: () => new LostWakeLog(), kinds: ['stalled'] },
  {
    what: 'filter that hides a leaving toy',
    make: () => new HiddenLeaverLog(),
    kinds: ['missing change', 'copy unlike the table'],
  },
  { what: 'duplicate after resume', make: () => new RepeatingLog(), kinds: ['duplicate'] },
  {
    what: 'gap after trim',
    make: () => new GapAfterTrimLog(),
    kinds: ['missing change', 'copy unlike the table'],
  },
  {
    what: 'number without an epoch',
    make: () => new TrustingLog(),
    kinds: ['unknown cursor'],
  },
  {
    what: 'cursor newer than its page',
    make: () => new LateCursorLog(),
    kinds: ['page unlike the table', 'copy unlike the table'],
  },
];
