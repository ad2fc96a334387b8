import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { OpenConnections } from './connections/open-connections.js';

const GRACE_MS = 250;

/**
 * Graceful shutdown that loses no request. While draining, every response says `Connection: close`, so that clients
 * disconnect; only then the server stops listening. Closing at once would reset kept-alive connections whose next request
 * is already on its way.
 */
export class Drain {
  isDraining = false;

  constructor(
    private readonly app: FastifyInstance,
    private readonly connections: OpenConnections,
    /** Ends the answers that would never end. */
    private readonly endStreams: () => void,
  ) {}

  /** Resolves when all connections are closed, or after `withinMs`. Load balancers get `lameDuckMs` to notice. */
  async run({ lameDuckMs, withinMs }: { lameDuckMs: number; withinMs: number }): Promise<void> {
    const endsAt = performance.now() + withinMs;
    this.isDraining = true;
    this.connections.announceClose();
    this.endStreams();
    await sleep(Math.min(lameDuckMs, withinMs));
    const closed = this.app.close();
    await orAfter(endsAt - performance.now(), closed);
    this.connections.closeAll();
    // Remaining work, such as a write to a database that does not respond, must not delay the exit.
    await orAfter(GRACE_MS, closed);
  }
}

/** Resolves with `work`, or after `ms`; then no timer is left. */
async function orAfter(ms: number, work: Promise<unknown>): Promise<void> {
  const isOver = new AbortController();
  const late = sleep(ms, undefined, { signal: isOver.signal }).catch(() => {});
  await Promise.race([work, late]).finally(() => isOver.abort());
}
