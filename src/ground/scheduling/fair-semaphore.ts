import { withTimeLimit } from '../kernel/deadline.js';

interface Waiting {
  key: unknown;
  start: () => void;
}

interface Bounds {
  /** Maximum number of concurrent works. */
  most: number;
  /** Maximum number of concurrent works of one key. */
  mostOfKey?: number;
}

/**
 * Limits how many works run at once. The next one belongs to the key with the fewest running, so no key blocks the others.
 * D-65.
 */
export class FairSemaphore {
  private running = 0;
  private readonly runningOf = new Map<unknown, number>();
  private readonly waiting: Waiting[] = [];
  private readonly most: number;
  private readonly mostOfKey: number;

  constructor({ most, mostOfKey = most }: Bounds) {
    this.most = most;
    this.mostOfKey = mostOfKey;
  }

  /** Whether all slots are taken. */
  get isFull(): boolean {
    return this.running >= this.most;
  }

  /** As `run`, with a bounded wait. */
  runWithin<T>(patienceMs: number, key: unknown, work: () => Promise<T>): Promise<{ result: T } | null> {
    return withTimeLimit(patienceMs, undefined, (end) => this.run(key, end, work));
  }

  /** Runs `work` as soon as a slot is free. Null when `end` aborts first: then `work` has not run. */
  async run<T>(key: unknown, end: AbortSignal, work: () => Promise<T>): Promise<{ result: T } | null> {
    if (!(await this.begins(key, end))) return null;
    try {
      return { result: await work() };
    } finally {
      this.running -= 1;
      this.count(key, -1);
      this.startNext();
    }
  }

  private async begins(key: unknown, end: AbortSignal): Promise<boolean> {
    if (end.aborted) return false;
    return new Promise((resolve) => {
      const giveUp = () => {
        this.waiting.splice(this.waiting.indexOf(entry), 1);
        resolve(false);
      };
      const start = () => {
        end.removeEventListener('abort', giveUp);
        resolve(true);
      };
      const entry = { key, start };
      this.waiting.push(entry);
      end.addEventListener('abort', giveUp, { once: true });
      this.startNext();
    });
  }

  private startNext(): void {
    let next: Waiting | null = null;
    for (const entry of this.waiting) {
      if (this.hasRoom(entry.key) && (!next || this.of(entry.key) < this.of(next.key))) next = entry;
    }
    if (!next) return;
    this.waiting.splice(this.waiting.indexOf(next), 1);
    this.running += 1;
    this.count(next.key, 1);
    next.start();
  }

  private hasRoom(key: unknown): boolean {
    return !this.isFull && this.of(key) < this.mostOfKey;
  }

  private of(key: unknown): number {
    return this.runningOf.get(key) ?? 0;
  }

  private count(key: unknown, change: number): void {
    const count = this.of(key) + change;
    if (count === 0) this.runningOf.delete(key);
    else this.runningOf.set(key, count);
  }
}
