import { setTimeout as sleep } from 'node:timers/promises';

/** Runs the same work for all who ask: one run at a time, and each begins after those who share it have asked. */
export class SharedRuns<T> {
  private last: Promise<unknown> = Promise.resolve();
  private next: Promise<T> | null = null;

  constructor(
    private readonly work: () => Promise<T>,
    /** Between two runs. */
    private readonly pauseMs = 0,
  ) {}

  /** The outcome of the next run, which begins when the current one and its pause have ended. */
  run(): Promise<T> {
    if (this.next) return this.next;
    const next = this.last.then(() => {
      this.next = null;
      return this.work();
    });
    this.next = next;
    this.last = next.catch(() => {}).then(() => (this.pauseMs > 0 ? sleep(this.pauseMs) : undefined));
    return next;
  }
}
