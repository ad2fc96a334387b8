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

/** Waiting items by key. The keys are served in rotation; the items of a key keep their order. */
export class RoundRobin<Key, Waiting> {
  /** The next key to serve is first. */
  private readonly queues = new Map<Key, Waiting[]>();
  size = 0;

  get isEmpty(): boolean {
    return this.size === 0;
  }

  add(key: Key, waiting: Waiting): void {
    this.size += 1;
    const queue = this.queues.get(key);
    if (queue) queue.push(waiting);
    else this.queues.set(key, [waiting]);
  }

  /** Removes and returns the next item; undefined = nothing waits. */
  takeNext(): Waiting | undefined {
    const [first] = this.queues;
    if (!first) return undefined;
    this.size -= 1;
    const [key, queue] = first;
    this.queues.delete(key);
    const next = queue.shift();
    if (queue.length > 0) this.queues.set(key, queue);
    return next;
  }
}
