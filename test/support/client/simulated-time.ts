import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../../client/client.js';

/** The event loop turns without a request in flight after which nothing more happens without a timer. */
const QUIET_TURNS = 5;

/** Time that jumps to the next timer of a client whenever no request is in flight. */
export class SimulatedTime implements Clock {
  private readonly timers = new Set<{ atMs: number; work: () => void }>();
  private inFlight = 0;

  /** `clock` is the gateway's: both have the same time. */
  constructor(private readonly clock: { now: number }) {}

  now(): number {
    return this.clock.now;
  }

  after(ms: number, work: () => void): () => void {
    const timer = { atMs: Math.ceil(this.clock.now + Math.max(0, ms)), work };
    this.timers.add(timer);
    return () => this.timers.delete(timer);
  }

  readonly fetch = async (url: string, init: RequestInit): Promise<Response> => {
    this.inFlight += 1;
    try {
      const response = await globalThis.fetch(url, init);
      // The whole answer, because the client reads it before its next step.
      return Object.defineProperty(new Response(await response.text(), response), 'url', {
        value: response.url,
      });
    } finally {
      this.inFlight -= 1;
    }
  };

  /** Resolves `ms` later. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.after(ms, resolve));
  }

  /** Lets the time pass until the work is done. */
  async run<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const done = () => {
      isDone = true;
    };
    work.then(done, done);
    let quietTurns = 0;
    while (!isDone) {
      await nextTurn();
      quietTurns = this.inFlight > 0 ? 0 : quietTurns + 1;
      if (quietTurns < QUIET_TURNS) continue;
      quietTurns = 0;
      const [next] = [...this.timers].sort((one, other) => one.atMs - other.atMs);
      if (!next) continue;
      this.timers.delete(next);
      this.clock.now = Math.max(this.clock.now, next.atMs);
      next.work();
    }
    return work;
  }
}
