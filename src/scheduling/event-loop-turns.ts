import { RoundRobin } from './round-robin.js';

/**
 * Runs one piece of work that may take milliseconds per turn of the event loop, or several smaller ones, so that other
 * requests are served in between. Projects are served in rotation: a project with many requests delays only itself. D-15.
 */
export class EventLoopTurns {
  private readonly waiting = new RoundRobin<bigint, () => void>();
  private isScheduled = false;

  constructor(private readonly perTurn = 1) {}

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
    const next = Array.from({ length: this.perTurn }, () => this.waiting.takeNext());
    if (!this.waiting.isEmpty) this.schedule();
    for (const resolve of next) resolve?.();
  }
}
