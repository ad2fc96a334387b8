/** Those who wait, by key: the keys take turns, and those of one key come in their order. */
export class RoundRobin<Key, Waiting> {
  /** The key whose turn is next is first. */
  private readonly queues = new Map<Key, Waiting[]>();

  get isEmpty(): boolean {
    return this.queues.size === 0;
  }

  add(key: Key, waiting: Waiting): void {
    const queue = this.queues.get(key);
    if (queue) queue.push(waiting);
    else this.queues.set(key, [waiting]);
  }

  /** Takes out who is next; undefined = nobody waits. */
  take(): Waiting | undefined {
    const [first] = this.queues;
    if (!first) return undefined;
    const [key, queue] = first;
    this.queues.delete(key);
    const next = queue.shift();
    if (queue.length > 0) this.queues.set(key, queue);
    return next;
  }
}
