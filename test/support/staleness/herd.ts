import type { Answered } from '../http/keep-alive-client.js';
import type { History, Page, Write } from './history.js';

const MAX_TOYS = 40;
/** Below the number of changes that a project may make over GraphQL in a minute. */
const MAX_UPDATES = 50;
const FIRST_VALUE = 1;

export interface HerdToy {
  readonly name: string;
  id: string;
  value: number;
  /** Its last write has begun. */
  isDeleted: boolean;
  /** A write is in flight, or the outcome of the last one is unknown; a toy has one write at a time. */
  isBusy: boolean;
}

/** The toys of one project with their writes and reads. Each name and each category contains the value. */
export class Herd {
  readonly history: History = { writes: [], reads: [] };
  private readonly toys: HerdToy[] = [];
  private readonly pages = new Map<string, Page>();
  private created = 0;
  private updates = 0;

  constructor(readonly token: string) {}

  /** Whether it has had as many writes as its project may make. */
  get isSpent(): boolean {
    return this.created >= MAX_TOYS || this.updates >= MAX_UPDATES;
  }

  newToy(): HerdToy {
    this.created += 1;
    return { name: `toy-${this.created}`, id: '', value: FIRST_VALUE, isDeleted: false, isBusy: true };
  }

  /** Returns a toy without a write in flight, for the caller to write its next value. */
  takeToy(): HerdToy | null {
    const free = this.toys.filter(({ isBusy }) => !isBusy);
    const toy = free[Math.floor(Math.random() * free.length)];
    if (!toy) return null;
    this.updates += 1;
    toy.isBusy = true;
    toy.value += 1;
    return toy;
  }

  beginWrite({ name, value, isDeleted }: HerdToy, at: string): Write {
    const begunAt = performance.now();
    const endedAt = Number.POSITIVE_INFINITY;
    const write = { toy: name, value, begunAt, endedAt, isAcknowledged: false, isDeletion: isDeleted, at };
    this.history.writes.push(write);
    return write;
  }

  /** Null = the write was not answered, so this toy is not written any more. */
  endWrite(toy: HerdToy, write: Write, answer: Answered | null): void {
    write.endedAt = answer?.answeredAt ?? performance.now();
    if (!answer) return;
    write.isAcknowledged = true;
    if (toy.id === '') {
      const [, id] = /"id":"?(\d+)/.exec(answer.text) ?? [];
      if (id === undefined) throw new Error(`no id: ${answer.text}`);
      toy.id = id;
      this.toys.push(toy);
    }
    toy.isBusy = toy.isDeleted;
  }

  addRead({ text, sentAt, answeredAt }: Answered, pageSize: number, at: string): void {
    // Most pages are read many times, so they share one object.
    const key = `${pageSize} ${text}`;
    const page = this.pages.get(key) ?? pageIn(text, pageSize);
    this.pages.set(key, page);
    this.history.reads.push({ begunAt: sentAt, endedAt: answeredAt, page, at });
  }

  /** Frees memory that only further reads would need. */
  retire(): void {
    this.pages.clear();
  }
}

export function nameOf({ name, value }: HerdToy): string {
  return `${name} ${value}`;
}

function pageIn(text: string, pageSize: number): Page {
  const values = new Map<string, number>();
  const seen = text.matchAll(/"name":"(toy-\d+) (\d+)","categoryId":"?(\d+)/g);
  for (const [, toy, value, category] of seen) {
    if (value !== category) throw new Error(`half of a write: ${text}`);
    values.set(String(toy), Number(value));
  }
  return { values, isWhole: values.size < pageSize };
}
