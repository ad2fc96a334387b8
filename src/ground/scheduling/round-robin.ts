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
