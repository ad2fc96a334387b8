import { setTimeout as pause } from 'node:timers/promises';
import { positionIn } from '../../../../src/ground/records/position.js';
import type { ChangeKind, SeenRecord, Step, Trace } from '../evidence.js';
import type { FollowedProject } from './followed-project.js';

const RETRY_MS = 50;
/** A subscriber acknowledges each message of this number; a crash loses the messages after it. */
const ACKNOWLEDGED = 4;

/** The project and the filter that a subscriber follows. */
export interface Subscription {
  readonly name: string;
  readonly project: FollowedProject;
  readonly status: string | null;
  /** Returns the address of a process, another one each time. */
  readonly address: () => string;
  /** The records that any subscriber received, by their texts: they share the memory. */
  readonly texts: Map<string, SeenRecord>;
}

/** A client that copies the toys of a project by a list and what follows, as `docs/clients.md` says. It records what it gets. */
export abstract class Subscriber {
  readonly counts = { lists: 0, followed: 0, changes: 0, gone: 0, refused: 0 };
  /** The newest cursor of its list or its changes; empty = none. */
  received = '';
  /** Stored with the copy. */
  protected acknowledged = '';
  protected isOver = false;
  private readonly steps: Step[] = [];
  private listedUpTo = 0;
  /** When it is disconnected: whether it forgets what it has not acknowledged. */
  private hasCrashed = false;
  /** It does not connect before this resolves. */
  private absence: Promise<void> = Promise.resolve();

  constructor(protected readonly of: Subscription) {}

  get name(): string {
    return this.of.name;
  }

  get trace(): Trace {
    const { name, project, status } = this.of;
    return { subscriber: name, project: project.slug, status, steps: this.steps };
  }

  /** Whether it has received all changes up to this number. */
  hasReached(number: number): boolean {
    return this.received !== '' && numberIn(this.received) >= number;
  }

  async run(): Promise<void> {
    while (!this.isOver) {
      let isCopied = await this.list().catch(() => false);
      while (isCopied && !this.isOver) {
        await this.absence;
        isCopied = await this.follow();
        await pause(RETRY_MS);
      }
      await pause(RETRY_MS);
    }
    this.acknowledge();
  }

  stop(): void {
    this.isOver = true;
    this.cut();
  }

  /** Loses what it has not acknowledged. */
  crash(): void {
    this.hasCrashed = true;
    this.cut();
  }

  /** Is not connected until the function returned is called. */
  leave(): () => void {
    let comeBack = () => {};
    this.absence = new Promise((resolve) => {
      comeBack = resolve;
    });
    this.cut();
    return comeBack;
  }

  /** Ends the connection. */
  abstract cut(): void;

  /** Does not read for a while. */
  abstract stall(ms: number): Promise<void>;

  /** Returns whether the list is complete. A list with a failed page has to begin again. */
  protected abstract list(): Promise<boolean>;

  /** Follows from `acknowledged` until the connection ends. Returns false when a new list is needed. */
  protected abstract follow(): Promise<boolean>;

  protected addPage(cursor: string, records: readonly SeenRecord[], isFirst: boolean): void {
    const shared = records.map((record) => this.shared(record));
    this.steps.push({ type: 'page', isFirst, cursor, records: shared });
    if (isFirst) this.acknowledged = this.received = cursor;
    this.listedUpTo = numberIn(cursor);
  }

  protected begin(): void {
    this.steps.push({ type: 'opened', after: this.acknowledged });
    this.counts.followed += 1;
    this.hasCrashed = false;
  }

  protected addChange(cursor: string, kind: ChangeKind, record: SeenRecord): void {
    if (this.hasCrashed) return;
    this.steps.push({ type: 'change', cursor, kind, record: this.shared(record) });
    this.counts.changes += 1;
    this.received = cursor;
    if (Math.random() * ACKNOWLEDGED < 1) this.acknowledge();
  }

  protected addExamined(cursor: string): void {
    if (this.hasCrashed || cursor === this.received) return;
    this.steps.push({ type: 'examined', cursor });
    this.received = cursor;
    if (Math.random() * ACKNOWLEDGED < 1) this.acknowledge();
  }

  protected addGone(): false {
    this.steps.push({ type: 'gone' });
    this.counts.gone += 1;
    return false;
  }

  /**
   * Returns whether it may follow again. Until the copy is as new as its last page, a restore could undo what is on that
   * page behind the cursor of the first.
   */
  protected end(): boolean {
    if (this.hasCrashed) this.received = this.acknowledged;
    else this.acknowledge();
    return numberIn(this.acknowledged) >= this.listedUpTo;
  }

  private acknowledge(): void {
    if (this.received === this.acknowledged) return;
    this.acknowledged = this.received;
    this.steps.push({ type: 'acknowledged', cursor: this.received });
  }

  private shared(record: SeenRecord): SeenRecord {
    const { texts } = this.of;
    const known = texts.get(record.text) ?? record;
    texts.set(record.text, known);
    return known;
  }
}

function numberIn(cursor: string): number {
  const position = positionIn(cursor);
  if (!position) throw new Error(`no cursor: ${cursor}`);
  return position.number;
}
