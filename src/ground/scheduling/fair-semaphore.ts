import { withTimeLimit } from '../kernel/deadline.js';

interface Waiting<K> {
  key: K;
  start: () => void;
}

/**
 * Limits how many works run at once, in all and of each key. The next one belongs to the key with the fewest running, so no key blocks the others.
 * D-65.
 */
export class FairSemaphore<K = unknown> {
  private running = 0;
  private readonly runningOf = new Map<K, number>();
  private readonly waiting: Waiting<K>[] = [];

  constructor(private readonly limits: { readonly most: number; readonly mostOfKey?: number }) {}

  /** Whether all slots are taken. */
  get isFull(): boolean {
    return this.running >= this.limits.most;
  }

  /** Whether work of the key can run at once. */
  hasRoom(key: K): boolean {
    return !this.isFull && this.of(key) < (this.limits.mostOfKey ?? this.limits.most);
  }

  /** Keys that can get no slot now. */
  fullKeys(): K[] {
    return [...this.runningOf.keys()].filter((key) => !this.hasRoom(key));
  }

  /** As `run`, with a bounded wait. */
  runWithin<T>(patienceMs: number, key: K, work: () => Promise<T>): Promise<{ result: T } | null> {
    return withTimeLimit(patienceMs, undefined, (end) => this.run(key, end, work));
  }

  /** Runs `work` as soon as a slot is free. Null when `end` aborts first: then `work` has not run. */
  async run<T>(key: K, end: AbortSignal, work: () => Promise<T>): Promise<{ result: T } | null> {
    if (!(await this.begins(key, end))) return null;
    try {
      return { result: await work() };
    } finally {
      this.running -= 1;
      this.count(key, -1);
      this.startNext();
    }
  }

  private async begins(key: K, end: AbortSignal): Promise<boolean> {
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
    let next: Waiting<K> | null = null;
    for (const entry of this.waiting) {
      if (this.hasRoom(entry.key) && (!next || this.of(entry.key) < this.of(next.key))) next = entry;
    }
    if (!next) return;
    this.waiting.splice(this.waiting.indexOf(next), 1);
    this.running += 1;
    this.count(next.key, 1);
    next.start();
  }

  private of(key: K): number {
    return this.runningOf.get(key) ?? 0;
  }

  private count(key: K, change: number): void {
    const count = this.of(key) + change;
    if (count === 0) this.runningOf.delete(key);
    else this.runningOf.set(key, count);
  }
}
