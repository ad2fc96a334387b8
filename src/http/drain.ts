import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { OpenConnections } from './connections/open-connections.js';

const GRACE_MS = 250;

/**
 * Ends service without losing a request: while draining, every answer says `Connection: close`, so that clients leave by
 * themselves; only then the server stops listening. Closing at once would reset each kept-alive connection whose next
 * request is already on its way.
 */
export class Drain {
  private draining = false;

  constructor(
    private readonly app: FastifyInstance,
    private readonly connections: OpenConnections,
  ) {
    app.addHook('onSend', (_, reply, payload, done) => {
      if (this.draining) reply.header('connection', 'close');
      done(null, payload);
    });
  }

  get isDraining(): boolean {
    return this.draining;
  }

  /** Resolves when nothing is open any more, at the latest after `withinMs`. Load balancers get `lameDuckMs` to notice. */
  async run({ lameDuckMs, withinMs }: { lameDuckMs: number; withinMs: number }): Promise<void> {
    const endsAt = performance.now() + withinMs;
    this.draining = true;
    await sleep(Math.min(lameDuckMs, withinMs));
    const closed = this.app.close();
    await Promise.race([closed, sleep(endsAt - performance.now())]);
    this.connections.closeAll();
    // What still closes, such as a write to a database that is silent, must not hold up the end.
    await Promise.race([closed, sleep(GRACE_MS)]);
  }
}
