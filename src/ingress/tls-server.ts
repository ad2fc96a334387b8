import { constants, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { SecureContext, TLSSocket } from 'node:tls';
import type { FastifyBaseLogger } from 'fastify';
import type { HostIndex } from '../domains/host-index.js';
import type { Host } from '../domains/host-table.js';
import { HTTP_LIMITS } from '../http/reception.js';
import { hostnameOf } from './host-router.js';
import type { SecureContexts } from './secure-contexts.js';

const TICKET_KEY_BYTES = 48;

/**
 * TLS for attached hosts, each with its own certificate. There is no default one: a handshake for any other name, or for
 * none, is refused. What is served is decided by `Ingress` at every request; closing connections here only tells clients
 * sooner.
 */
export class TlsServer {
  readonly server;
  private readonly sockets = new Map<string, Set<TLSSocket>>();

  constructor(
    private readonly index: HostIndex,
    private readonly contexts: SecureContexts,
    private readonly log: FastifyBaseLogger,
    private readonly now: () => number,
  ) {
    this.server = createServer({
      ...HTTP_LIMITS,
      SNICallback: (name, done) => this.choose(name, done),
      ALPNProtocols: ['http/1.1'],
      minVersion: 'TLSv1.2',
      // A client could keep this process at handshakes, or ask for another name on the way.
      secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    });
    this.server.on('secureConnection', (socket) => this.keep(socket));
    index.onGone((hosts) => this.cut(hosts));
  }

  async listen(host: string, port: number): Promise<void> {
    this.server.listen(port, host);
    await once(this.server, 'listening');
  }

  /** Accepts no connection any more; resolves when the last one has ended. */
  async close(): Promise<void> {
    if (!this.server.listening) return;
    const closed = once(this.server, 'close');
    this.server.close();
    await closed;
  }

  /** An error would reset the connection; without a context the client is told by an alert. */
  private choose(name: string, done: (error: Error | null, context?: SecureContext) => void): void {
    const host = this.served(name);
    if (!host) {
      done(null, undefined);
      return;
    }
    this.contexts.of(host).then(
      (context) => done(null, context),
      (error) => {
        this.log.warn({ domain: host.hostname, reason: String(error) }, 'no certificate to serve with');
        done(null, undefined);
      },
    );
  }

  private served(name: string): Host | null {
    const host = this.index.find(hostnameOf(name));
    return host && host.certificateEndsAtMs > this.now() ? host : null;
  }

  private keep(socket: TLSSocket): void {
    // A session may be resumed without asking for a certificate; and the host or the server be gone since it began.
    const name = this.served(socket.servername || '')?.hostname;
    if (name === undefined || !this.server.listening) {
      socket.destroy();
      return;
    }
    const others = this.sockets.get(name) ?? new Set();
    this.sockets.set(name, others.add(socket));
    socket.once('close', () => {
      others.delete(socket);
      if (others.size === 0 && this.sockets.get(name) === others) this.sockets.delete(name);
    });
  }

  private cut(hosts: readonly Host[]): void {
    // Sessions can't be resumed any more, of no host: there is one key for all.
    this.server.setTicketKeys(randomBytes(TICKET_KEY_BYTES));
    for (const host of hosts) {
      this.contexts.forget(host);
      for (const socket of this.sockets.get(host.hostname) ?? []) socket.destroy();
    }
  }
}
