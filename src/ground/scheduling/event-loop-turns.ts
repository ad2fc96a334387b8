import { RoundRobin } from './round-robin.js';

/**
 * Runs one piece of work that may take milliseconds per turn of the event loop, or several smaller ones, so that other
 * requests are served in between. Projects are served in rotation: a project with many requests delays only itself. D-15.
 */
export class EventLoopTurns {
  private readonly queue = new RoundRobin<bigint | null, () => void>();
  private isScheduled = false;

  constructor(private readonly perTurn = 1) {}

  /** The project is null for an unknown key. */
  next(projectId: bigint | null): Promise<void> {
    this.schedule();
    return new Promise((resolve) => this.queue.add(projectId, resolve));
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      const next = Array.from({ length: this.perTurn }, () => this.queue.takeNext());
      if (!this.queue.isEmpty) this.schedule();
      for (const resolve of next) resolve?.();
    });
  }
}
