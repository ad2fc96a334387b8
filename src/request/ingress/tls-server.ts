import { constants, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:https';
import { createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import type { FastifyBaseLogger } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { CertificateStore } from '../../domains/certificates/store/certificate.store.js';
import { certificateKeyContext, type Sealer } from '../../domains/certificates/store/sealer.js';
import type { Host, HostIndex } from '../../domains/hosts/host-index.js';
import { EventLoopTurns } from '../../ground/scheduling/event-loop-turns.js';
import { FairSemaphore } from '../../ground/scheduling/fair-semaphore.js';
import { HTTP_LIMITS } from '../http/reception.js';
import { type HostAddresses, hostnameOf } from './ingress.js';

const TICKET_KEY_BYTES = 48;
/** Groups that cost at most milliseconds. OpenSSL also accepts ffdhe8192: 150 ms here, and no computation for the client. */
const GROUPS = 'X25519:P-256:P-384';
/** About 26 KB each. */
const MAX_CONTEXTS = 1_000;
/** After a failed load the next attempt waits this long. */
const FAILED_MS = 1_000;
/** A client can ask for thousands of names, and each costs a statement and a millisecond: projects share the loads. */
const LOADS = { most: 4, mostOfKey: 2 };
/** Less than a handshake may last. */
const PATIENCE_MS = 2_000;

/**
 * TLS for attached hosts, each with its own certificate. There is no default certificate: a handshake for another name, or
 * without a name, is refused. `Ingress` decides at every request whether a host is served; closing connections here only
 * tells clients sooner. D-68.
 */
export class TlsServer {
  readonly server;
  private readonly sockets = new Set<TLSSocket>();
  /** A signature and a key agreement take milliseconds, and a client can have hundreds of handshakes ready at once. */
  private readonly turns = new EventLoopTurns();

  constructor(
    private readonly index: HostIndex,
    private readonly addresses: HostAddresses,
    private readonly contexts: SecureContexts,
    private readonly log: FastifyBaseLogger,
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
  close(): Promise<void> {
    return new Promise((resolve) => this.server.close(() => resolve()));
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
    return host && this.addresses.isReady(host) ? host : null;
  }

  private keep(socket: TLSSocket): void {
    // A resumed session asks for no certificate. The host or the server may also have ended during the handshake.
    if (!this.served(socket.servername || '') || !this.server.listening) {
      socket.destroy();
      return;
    }
    this.sockets.add(socket);
    socket.once('close', () => this.sockets.delete(socket));
  }

  private cut(hosts: readonly Host[]): void {
    // New ticket keys end the session resumption of all hosts, because all share one key. D-71.
    this.server.setTicketKeys(randomBytes(TICKET_KEY_BYTES));
    for (const host of hosts) this.contexts.forget(host);
    const names = new Set(hosts.map(({ hostname }) => hostname));
    for (const socket of this.sockets) if (names.has(hostnameOf(socket.servername || ''))) socket.destroy();
  }
}

/** A cache of TLS contexts by certificate id. A context is loaded at the first handshake for its host. */
export class SecureContexts {
  private readonly contexts = new LRUCache<bigint, Promise<SecureContext>>({ max: MAX_CONTEXTS });
  private readonly loads = new FairSemaphore(LOADS);

  constructor(
    private readonly certificates: CertificateStore,
    private readonly sealer: Sealer,
  ) {}

  /** Rejects when the host has no certificate, its key can't be decrypted, or the database does not answer. */
  of(host: Host): Promise<SecureContext> {
    const { certificateId, hostname, projectId } = host;
    if (certificateId === null) return Promise.reject(new Error(`${hostname} has no certificate`));
    const known = this.contexts.get(certificateId);
    if (known) return known;
    const loading = this.loads
      .runWithin(PATIENCE_MS, projectId, () => this.load(certificateId, hostname))
      .then((loaded) => {
        if (loaded) return loaded.result;
        throw new Error('too many certificates are being loaded');
      });
    this.contexts.set(certificateId, loading);
    loading.catch(() => {
      if (this.contexts.peek(certificateId) === loading) {
        this.contexts.set(certificateId, loading, { ttl: FAILED_MS });
      }
    });
    return loading;
  }

  forget({ certificateId }: Host): void {
    if (certificateId !== null) this.contexts.delete(certificateId);
  }

  private async load(id: bigint, hostname: string): Promise<SecureContext> {
    const row = await this.certificates.findCertificate(id, hostname);
    if (!row) throw new Error(`the certificate of ${hostname} does not exist`);
    const key = this.sealer.open(row.sealedKey, certificateKeyContext(hostname));
    return createSecureContext({ cert: row.chainPem, key });
  }
}
