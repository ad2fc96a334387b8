import { Copy } from './copy.js';
import {
  isShown,
  type ListedPage,
  type ReceivedChange,
  type SeenRecord,
  type Step,
  shownAfter,
  type Trace,
} from './evidence.js';
import type { Finding, FindingKind } from './finding.js';
import { type History, isSame, recordOf } from './history.js';

/** Repeats one copy of a subscriber from its trace, beside the table that it should equal. */
export class Follower {
  private readonly found: Finding[] = [];
  private readonly listed = new Map<string, SeenRecord>();
  private copy: Copy | null = null;
  /** The changes up to here have been received, or are not shown by the filter, or are among the missing. */
  private position = 0;
  /** The cursor that the copy was stored with. */
  private acknowledged = '';
  /** The last page of the list has the state of this position; before it the copy has records of several states. */
  private listedUpTo = 0;
  private readonly missing = new Map<number, Finding>();
  /** Of the lineage of the latest steps. */
  private history!: History;
  private isGone = false;
  private isLost = false;

  constructor(
    private readonly trace: Trace,
    /** The histories of other projects. */
    private readonly strangers: readonly History[],
  ) {}

  get findings(): Finding[] {
    return [...this.found, ...this.missing.values()];
  }

  /** Takes the steps of a list or of a connection, which are of one lineage. The next connection may continue in another. */
  take(steps: readonly Step[], history: History): void {
    this.history = history;
    for (const step of steps) if (!this.isLost) this.takeStep(step);
  }

  private takeStep(step: Step): void {
    if (step.type === 'gone') this.isGone = true;
    else if (step.type === 'page') this.list(step);
    else if (step.type === 'opened') this.at(step.after, (position) => this.open(position, step.after));
    else if (step.type === 'change') this.receive(step);
    else if (step.type === 'examined') this.at(step.cursor, (position) => this.pass(position));
    else this.at(step.cursor, (position) => this.acknowledge(position, step.cursor));
  }

  /** Called once all writes are over and the subscriber has had time to receive them. */
  end(isAlive: boolean): void {
    if (this.isLost) return;
    const { changes } = this.history.lineage;
    const due = changes.slice(this.position).filter((change) => isShown(change, this.trace.status));
    const last = changes.at(-1)?.cursor ?? this.history.lineage.start;
    if (this.isGone) this.find('stalled', last, 'the subscriber did not list again');
    else if (!isAlive) this.find('stalled', last, 'the changes after this one were undone by a restore');
    else if (due.length > 0) this.find('stalled', due[0]?.cursor ?? last, `${due.length} changes never came`);
  }

  private list({ records, cursor, isFirst }: ListedPage): void {
    for (const record of records) this.listed.set(record.id, record);
    this.at(cursor, (position) => {
      if (isFirst) this.position = position;
      if (isFirst) this.acknowledged = cursor;
      this.listedUpTo = Math.max(this.listedUpTo, position);
    });
  }

  private open(position: number, cursor: string): void {
    if (cursor !== this.acknowledged) throw new Error(`${this.trace.subscriber} opened elsewhere`);
    this.copy?.restore();
    this.copy ??= new Copy(this.listed, this.history.tableAt(position, this.trace.status));
    this.position = position;
  }

  private receive(step: ReceivedChange): void {
    const { cursor, record, kind } = step;
    const position = this.history.positionOfChange(step);
    const change = position === null ? undefined : this.history.changeAt(position);
    if (!isSame(change, step)) {
      const isStrange =
        !this.history.knows(record.id) && this.strangers.some((other) => other.knows(record.id));
      const other = change ? 'other change' : 'unknown cursor';
      this.find(isStrange ? 'other project' : other, cursor, `${kind} ${record.text}`);
    } else if (change && position !== null) {
      if (!isShown(change, this.trace.status)) this.find('unasked change', cursor, record.text);
      if (position <= this.position) this.receiveAgain(position, cursor);
    }
    if (change && position !== null && position > this.position) {
      this.pass(position - 1);
      this.commit(position);
    }
    const isKept = kind !== 'DELETED' && [null, record.status].includes(this.trace.status);
    this.copyNow.receive(record.id, isKept ? record : null);
  }

  private receiveAgain(position: number, cursor: string): void {
    const wasMissing = this.missing.delete(position);
    this.find(wasMissing ? 'out of order' : 'duplicate', cursor, `${this.position - position} changes late`);
  }

  private pass(position: number): void {
    while (this.position < position) {
      const change = this.commit(this.position + 1);
      if (!change || !isShown(change, this.trace.status)) continue;
      const { subscriber: of } = this.trace;
      const detail = recordOf(change).text;
      this.missing.set(this.position, { kind: 'missing change', of, cursor: change.cursor, detail });
    }
  }

  private commit(position: number) {
    const change = this.history.changeAt(position);
    if (change) this.copyNow.commit(recordOf(change).id, shownAfter(change, this.trace.status));
    this.position = position;
    return change;
  }

  private acknowledge(position: number, cursor: string): void {
    this.pass(position);
    const difference = position >= this.listedUpTo ? this.copyNow.difference : undefined;
    // The copy differs from now on, so it is reported once.
    const isKnown = this.found.some(({ kind }) => kind === 'copy unlike the table');
    if (difference !== undefined && !isKnown) this.find('copy unlike the table', cursor, difference);
    this.copyNow.store();
    this.acknowledged = cursor;
  }

  private at(cursor: string, work: (position: number) => void): void {
    const position = this.history.positionOf(cursor);
    if (position === null) {
      this.find('unknown cursor', cursor, 'the log does not have it');
      this.isLost = true;
    } else work(position);
  }

  private get copyNow(): Copy {
    if (!this.copy) throw new Error(`${this.trace.subscriber} received before it opened`);
    return this.copy;
  }

  private find(kind: FindingKind, cursor: string, detail: string): void {
    this.found.push({ kind, of: this.trace.subscriber, cursor, detail });
  }
}
