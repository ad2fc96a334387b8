/**
 * Lets one piece of work that may take milliseconds run in each turn of the event loop, so that the requests of others are
 * answered in between. Projects take turns: a project with many requests waits for itself.
 */
export class Turns {
  /** Those who wait, by project, the project whose turn is next first. */
  private readonly waiting = new Map<bigint, (() => void)[]>();
  private isScheduled = false;

  next(projectId: bigint): Promise<void> {
    this.schedule();
    return new Promise((resolve) => {
      const queue = this.waiting.get(projectId);
      if (queue) queue.push(resolve);
      else this.waiting.set(projectId, [resolve]);
    });
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
    const [first] = this.waiting;
    if (!first) return;
    const [projectId, queue] = first;
    this.waiting.delete(projectId);
    const resolve = queue.shift();
    if (queue.length > 0) this.waiting.set(projectId, queue);
    if (this.waiting.size > 0) this.schedule();
    resolve?.();
  }
}
