import { RoundRobin } from './round-robin.js';

/**
 * Lets one piece of work that may take milliseconds run in each turn of the event loop, so that the requests of others are
 * answered in between. Projects take turns: a project with many requests waits for itself.
 */
export class Turns {
  private readonly waiting = new RoundRobin<bigint, () => void>();
  private isScheduled = false;

  next(projectId: bigint): Promise<void> {
    this.schedule();
    return new Promise((resolve) => this.waiting.add(projectId, resolve));
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      this.give();
    });
  }

  private give(): void {
    const resolve = this.waiting.take();
    if (!this.waiting.isEmpty) this.schedule();
    resolve?.();
  }
}
