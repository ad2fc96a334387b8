import { EventEmitter } from 'node:events';

/**
 * `writing` and `written` surround a write of the project's records; `access`: its keys, plan or log were changed;
 * `requests`, `domains`: its request log or its domains have changed.
 */
export type Signal = 'writing' | 'written' | 'access' | 'requests' | 'domains';

/** Signals within this process. `RedisSignals` are also those of others. */
export class ProjectSignals {
  /**
   * Since this time, as `performance.now()`, each signal of any process arrives here. Listeners must look at the database
   * until they have looked after it; infinite = they must always look.
   */
  readonly completeSinceMs: number = Number.POSITIVE_INFINITY;
  private readonly events = new EventEmitter().setMaxListeners(0);

  /** Never throws. */
  send(projectId: bigint, signal: Signal): void {
    this.events.emit(String(projectId), signal);
  }

  /** Returns the function that ends it. */
  listen(projectId: bigint, listener: (signal: Signal) => void): () => void {
    const name = String(projectId);
    this.events.on(name, listener);
    return () => void this.events.off(name, listener);
  }

  /** Waits for the project's turn among the processes; resolves with the function that ends it. Never rejects. */
  async turn(_projectId: bigint): Promise<() => void> {
    return () => {};
  }

  async close(): Promise<void> {}
}
