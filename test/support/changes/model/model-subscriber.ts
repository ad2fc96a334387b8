import type { Step, Trace } from '../evidence.js';
import type { Dice } from './dice.js';
import { type ModelLog, type ModelPage, type ModelProject, positionOf } from './model-log.js';
import { ModelStream } from './model-stream.js';

/** Builds a copy from a list and a stream as `docs/clients.md` says, and records what it received. */
export class ModelSubscriber {
  stream: ModelStream | null = null;
  private readonly steps: Step[] = [];
  private page: ModelPage | null = null;
  /** The list continues behind it; null = the list is complete. */
  private afterId: string | null = '';
  /** The number in the cursor of the last page. */
  private listedUpTo = 0;
  private acknowledged = '';
  private received = '';

  constructor(
    private readonly log: ModelLog,
    private readonly project: ModelProject,
    private readonly status: string | null,
    private readonly name: string,
  ) {}

  get trace(): Trace {
    return { subscriber: this.name, project: this.project.name, status: this.status, steps: this.steps };
  }

  /** Returns false when nothing has arrived. */
  step(dice: Dice): boolean {
    if (this.afterId !== null) this.list(this.afterId);
    else if (this.stream === null) this.open();
    else if (this.stream.batches.length > 0) this.receive(this.stream, dice);
    else return this.acknowledge();
    return true;
  }

  /**
   * A cut connection loses what has not been read; a crash also what has not been acknowledged. A copy that is not yet as
   * new as its last page begins again: after a restore, its pages could show what was undone behind its cursor.
   */
  disconnect(isCrash: boolean): void {
    if (isCrash) this.received = this.acknowledged;
    else this.acknowledge();
    this.stream = null;
    if (this.afterId === null && numberIn(this.acknowledged) >= this.listedUpTo) return;
    this.page = null;
    this.afterId = '';
  }

  private list(afterId: string): void {
    const { log, project } = this;
    if (!this.page) {
      this.page = log.list(project, afterId, this.status);
      return;
    }
    const { records, hasNextPage } = this.page;
    const cursor = log.cursorOfPage(project, this.page);
    const isFirst = afterId === '';
    this.steps.push({ type: 'page', isFirst, cursor, records });
    if (isFirst) this.acknowledged = this.received = cursor;
    this.listedUpTo = numberIn(cursor);
    this.afterId = hasNextPage ? (records.at(-1)?.id ?? null) : null;
    this.page = null;
  }

  private open(): void {
    this.stream = new ModelStream(this.log, this.project, this.acknowledged, this.status);
    this.steps.push({ type: 'opened', after: this.acknowledged });
  }

  private receive({ batches }: ModelStream, dice: Dice): void {
    const batch = batches.shift() ?? null;
    if (batch === null) {
      this.steps.push({ type: 'gone' });
      this.stream = null;
      this.afterId = '';
      return;
    }
    for (const change of batch.changes) {
      this.steps.push({ type: 'change', ...change });
      this.received = change.cursor;
      if (dice.once(2)) this.acknowledge();
    }
    if (dice.once(2)) return;
    this.steps.push({ type: 'examined', cursor: batch.examined });
    this.received = batch.examined;
  }

  private acknowledge(): boolean {
    if (this.received === this.acknowledged) return false;
    this.acknowledged = this.received;
    this.steps.push({ type: 'acknowledged', cursor: this.received });
    return true;
  }
}

function numberIn(cursor: string): number {
  return positionOf(cursor).number;
}
