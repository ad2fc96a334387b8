import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { OpenConnections } from './connections/open-connections.js';

const GRACE_MS = 250;

/** How many requests of the APIs have ended; streams count once they are live. */
export interface EndedRequests {
  completed: number;
  /** The client disconnected before the answer, or the end of the process cut it off. */
  unanswered: number;
}

interface DrainOptions {
  reason: string;
  lameDuckMs: number;
  withinMs: number;
}

/**
 * Graceful shutdown that loses no request. While draining, every response says `Connection: close`, so that clients
 * disconnect; only then the server stops listening. Closing at once would reset kept-alive connections whose next request
 * is already on its way.
 */
export class Drain {
  isDraining = false;

  constructor(
    private readonly app: FastifyInstance,
    readonly connections: OpenConnections,
    /** Ends the answers that would never end. */
    private readonly endStreams: () => void,
    /** Since the start of the process. */
    readonly ended: EndedRequests,
  ) {}

  /**
   * Logs the reason, and resolves when all connections are closed, or after `withinMs`, with how many requests ended
   * meanwhile. Load balancers get `lameDuckMs` to notice.
   */
  async run({ reason, lameDuckMs, withinMs }: DrainOptions): Promise<EndedRequests> {
    const endsAt = performance.now() + withinMs;
    const before = { ...this.ended };
    const withinSeconds = Math.round(withinMs / 1000);
    this.app.log.info({ reason, ...this.connections.inUse, withinSeconds }, 'shutting down');
    this.isDraining = true;
    this.connections.announceClose();
    this.endStreams();
    await sleep(Math.min(lameDuckMs, withinMs));
    const closed = this.app.close();
    await orAfter(endsAt - performance.now(), closed);
    this.connections.closeAll();
    // Remaining work, such as a write to a database that does not respond, must not delay the exit.
    await orAfter(GRACE_MS, closed);
    const { completed, unanswered } = this.ended;
    return { completed: completed - before.completed, unanswered: unanswered - before.unanswered };
  }
}

/** Resolves with `work`, or after `ms`; then no timer is left. */
async function orAfter(ms: number, work: Promise<unknown>): Promise<void> {
  const isOver = new AbortController();
  const late = sleep(ms, undefined, { signal: isOver.signal }).catch(() => {});
  await Promise.race([work, late]).finally(() => isOver.abort());
}
