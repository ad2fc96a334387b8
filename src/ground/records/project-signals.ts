import { EventEmitter } from 'node:events';

/** `writing` and `written` surround a write of the project's records; `access`: its keys, plan or log were changed. */
export type Signal = 'writing' | 'written' | 'access';

export interface ProjectSignals {
  /** Tells the processes that listen, this one included. Never throws; without Redis, other processes do not hear it. */
  send(projectId: bigint, signal: Signal): void;
  /** Returns the function that ends it. */
  listen(projectId: bigint, listener: (signal: Signal) => void): () => void;
  /** Whether a signal of any process arrives here now. Otherwise listeners must look at the database. */
  readonly isComplete: boolean;
  /** Grows when signals may have been missed: listeners must look once. */
  readonly interruptions: number;
  close(): Promise<void>;
}

/** Within one process. */
export class LocalSignals implements ProjectSignals {
  readonly isComplete: boolean = false;
  readonly interruptions: number = 0;
  private readonly events = new EventEmitter().setMaxListeners(0);

  send(projectId: bigint, signal: Signal): void {
    this.events.emit(String(projectId), signal);
  }

  listen(projectId: bigint, listener: (signal: Signal) => void): () => void {
    const name = String(projectId);
    this.events.on(name, listener);
    return () => void this.events.off(name, listener);
  }

  async close(): Promise<void> {}
}
