import { noConnection } from './database-errors.js';

/** Within the 5 s that a request may take. */
const PATIENCE_MS = 4_000;

/**
 * Runs at most `atOnce` pieces of work of this process at once, the others in their order. For transactions that all wait
 * for one row: while they wait here they hold no connection, and none waits longer for the lock than a statement may take.
 */
export class Turns {
  private running = 0;
  private readonly waiting = new Set<() => void>();

  constructor(private readonly atOnce: number) {}

  /** Rejects as a pool without a free connection does when no turn came in time. */
  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.running < this.atOnce) this.running += 1;
    else await this.turn();
    try {
      return await work();
    } finally {
      this.pass();
    }
  }

  private turn(): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.waiting.delete(begin);
        reject(noConnection(PATIENCE_MS));
      }, PATIENCE_MS);
      this.waiting.add(begin);
    });
  }

  /** The turn goes to the first that waits. */
  private pass(): void {
    const [next] = this.waiting;
    if (next === undefined) {
      this.running -= 1;
      return;
    }
    this.waiting.delete(next);
    next();
  }
}
