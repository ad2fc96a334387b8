import { constants, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { SecureContext, TLSSocket } from 'node:tls';
import type { FastifyBaseLogger } from 'fastify';
import type { HostIndex } from '../../domains/hosts/host-index.js';
import type { Host } from '../../domains/hosts/host-table.js';
import { EventLoopTurns } from '../../ground/scheduling/event-loop-turns.js';
import { HTTP_LIMITS } from '../http/reception.js';
import { hostnameOf } from './ingress.js';
import type { SecureContexts } from './secure-contexts.js';

const TICKET_KEY_BYTES = 48;
/** Groups that cost at most milliseconds. OpenSSL also accepts ffdhe8192: 150 ms here, and no computation for the client. */
const GROUPS = 'X25519:P-256:P-384';

/**
 * TLS for attached hosts, each with its own certificate. There is no default certificate: a handshake for another name, or
 * without a name, is refused. `Ingress` decides at every request whether a host is served; closing connections here only
 * tells clients sooner. D-68, D-72.
 */
export class TlsServer {
  readonly server;
  private readonly sockets = new Map<string, Set<TLSSocket>>();
  /** A signature and a key agreement take milliseconds, and a client can have hundreds of handshakes ready at once. */
  private readonly turns = new EventLoopTurns();

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
      ecdhCurve: GROUPS,
      // Renegotiation would let a client force endless handshakes, or switch to another name.
      secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    });
    this.server.on('secureConnection', (socket) => this.keep(socket));
    index.onGone((hosts) => this.cut(hosts));
  }

  async listen(host: string, port: number): Promise<void> {
    this.server.listen(port, host);
    await once(this.server, 'listening');
  }

  /** Stops accepting connections; resolves when the last one has ended. */
  async close(): Promise<void> {
    if (!this.server.listening) return;
    const closed = once(this.server, 'close');
    this.server.close();
    await closed;
  }

  /** Passes no context instead of an error: the client then gets a TLS alert, not a connection reset. */
  private choose(name: string, done: (error: Error | null, context?: SecureContext) => void): void {
    const host = this.served(name);
    if (!host) {
      done(null, undefined);
      return;
    }
    this.contexts.of(host).then(
      (context) => this.turns.next(host.projectId).then(() => done(null, context)),
      (error) => {
        this.log.warn({ domain: host.hostname, reason: String(error) }, 'no certificate to serve with');
        done(null, undefined);
      },
    );
  }

  private served(name: string): Host | null {
    const host = this.index.findHost(hostnameOf(name));
    return host && host.certificateEndsAtMs > this.now() ? host : null;
  }

  private keep(socket: TLSSocket): void {
    // A resumed session asks for no certificate. The host or the server may also have ended during the handshake.
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
    // New ticket keys end the session resumption of all hosts, because all share one key. D-71.
    this.server.setTicketKeys(randomBytes(TICKET_KEY_BYTES));
    for (const host of hosts) {
      this.contexts.forget(host);
      for (const socket of this.sockets.get(host.hostname) ?? []) socket.destroy();
    }
  }
}
