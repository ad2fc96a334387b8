import type { Server, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

const GRACE_MS = 250;

/**
 * Ends service without losing a request: while draining, every answer says `Connection: close`, so that clients leave by
 * themselves; only then the server stops listening. Closing at once would reset each kept-alive connection whose next
 * request is already on its way.
 */
export class Drain {
  private readonly sockets = new Set<Socket>();
  private draining = false;

  constructor(private readonly app: FastifyInstance) {
    this.watch(app.server);
    app.addHook('onSend', (_, reply, payload, done) => {
      if (this.draining) reply.header('connection', 'close');
      done(null, payload);
    });
  }

  /** The connections of this server, too, are cut when time is up. */
  watch(server: Server): void {
    server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
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
    for (const socket of this.sockets) socket.destroy();
    // What still closes, such as a write to a database that is silent, must not hold up the end.
    await Promise.race([closed, sleep(GRACE_MS)]);
  }
}
