import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import type { Server, Socket } from 'node:net';
import { type TLSSocket, Server as TlsServer } from 'node:tls';
import { type ConnectionState, OpenConnection, type Totals } from './open-connection.js';

const WATCH_MS = 500;
/** Checked every half second, to keep the promised 10 s. */
const HANDSHAKE_MS = 9_400;
/** How long a client may take for a request head during shutdown, when Node no longer checks. */
const LAST_HEAD_MS = 5_000;
/** Each takes about 2 KB. */
const MAX_HELD_REQUESTS = 5_000;
/** Waiting requests that each connection may have even when the total is too high. */
const ALWAYS_HELD = 16;
const MAX_UNREAD_BYTES = 64 * 1_024 * 1_024;
/** Several connections are closed at a time: finding the oldest costs as much as for one. */
const SHARE_CLOSED = 1 / 64;

/** For systems that do not report a limit: the default of most systems. */
const USUAL_DESCRIPTORS = 1_024;
/** Descriptors for files, DNS, Redis, certificate authorities, and the runtime itself. */
const OTHER_DESCRIPTORS = 100;
const FEWEST_CONNECTIONS = 16;
const MOST_CONNECTIONS = 10_000;

/**
 * The states whose connections are closed to make room for a new one, in this order. A connection that is being answered
 * is never closed.
 */
const GIVES_WAY: readonly ConnectionState[] = [
  'ending',
  'handshake',
  'silent',
  'idle',
  'unread',
  'receiving',
  'streaming',
];

/** All client connections of this process, on every port, and their limits. */
export class OpenConnections implements Totals {
  private readonly open = new Set<OpenConnection>();
  /** Keyed by the TCP socket, and by the TLS socket once its handshake is done. */
  private readonly bySocket = new WeakMap<Socket, OpenConnection>();
  private readonly watching = setInterval(() => this.watchAll(), WATCH_MS).unref();
  private heldRequests = 0;
  /**
   * Waiting requests of closed connections count a little longer. Otherwise 600 connections of 1,500 pipelined requests
   * cost 400 MB.
   */
  private heldByClosed = 0;
  private unreadBytes = 0;
  private isDraining = false;
  private isClosing = false;

  constructor(readonly maxOpen: number) {}

  /** Starts to count the connections of this server. */
  watch(server: Server): void {
    const isTls = server instanceof TlsServer;
    server.on('connection', (tcp: Socket) => this.accept(tcp, isTls));
    if (!isTls) return;
    server.on('secureConnection', (socket: TLSSocket) => {
      // Only `_parent` shows the TCP socket below. A connection without limits must not be served.
      const { _parent: tcp } = socket as unknown as { _parent?: Socket };
      const connection = tcp && this.of(tcp);
      if (connection) {
        this.bySocket.set(socket, connection);
        connection.carry(socket);
      } else socket.destroy();
    });
  }

  /** The handler, called when a connection's earlier requests have their response. */
  inTurn(handler: RequestListener): RequestListener {
    const handle: RequestListener = (request, response) => {
      if (this.isDraining) response.shouldKeepAlive = false;
      handler(request, response);
    };
    return (request, response) => this.of(request.socket)?.handleInOrder(handle, request, response);
  }

  /** Null = the handshake is not done. */
  of(socket: Socket): OpenConnection | null {
    return this.bySocket.get(socket) ?? null;
  }

  get size(): number {
    return this.open.size;
  }

  /** The work that the end of the process would cut off. */
  get inUse(): { requestsInFlight: number; openStreams: number } {
    let [requestsInFlight, openStreams] = [0, 0];
    for (const { current, heldRequests, state } of this.open) {
      if (state === 'streaming') openStreams += 1;
      else if (current !== null) requestsInFlight += 1 + heldRequests;
    }
    return { requestsInFlight, openStreams };
  }

  addHeld(connection: OpenConnection): void {
    this.heldRequests += 1;
    // Node continues to parse everything it has read of a connection, unless the connection is closed.
    if (this.heldRequests > MAX_HELD_REQUESTS && connection.heldRequests > ALWAYS_HELD)
      this.close(connection);
  }

  removeHeld(): void {
    this.heldRequests -= 1;
  }

  countUnread(connection: OpenConnection): void {
    if (!this.open.has(connection)) return;
    const { unreadBytes, countedBytes } = connection;
    this.unreadBytes += unreadBytes - countedBytes;
    connection.countedBytes = unreadBytes;
    if (this.unreadBytes <= MAX_UNREAD_BYTES) return;
    this.close([...this.open].reduce((most, one) => (one.countedBytes > most.countedBytes ? one : most)));
  }

  /** From now on every response says `Connection: close`, also those to requests that have arrived already. */
  announceClose(): void {
    this.isDraining = true;
    for (const { current } of this.open) if (current) current.shouldKeepAlive = false;
  }

  /** Closes unused connections, now and from now on: otherwise they would stay open until their timeout. */
  closeUnused(): void {
    this.isClosing = true;
    for (const connection of this.open) if (connection.isUnused) this.close(connection);
  }

  closeAll(): void {
    this.stop();
    for (const connection of this.open) this.close(connection);
  }

  /** Called when no server is open any more. */
  stop(): void {
    clearInterval(this.watching);
  }

  private accept(tcp: Socket, isTls: boolean): void {
    if (this.open.size >= this.maxOpen && !this.makeRoom()) {
      tcp.destroy();
      return;
    }
    const connection = new OpenConnection(tcp, this);
    this.open.add(connection);
    this.bySocket.set(tcp, connection);
    tcp.once('close', () => {
      this.forget(connection);
      this.heldByClosed += connection.heldRequests;
    });
    if (!isTls) connection.carry(tcp);
  }

  /** Closes the oldest connections in the state with the least to lose. Returns false if all are being answered. */
  private makeRoom(): boolean {
    const oldestFirst = [...this.open]
      .map((connection) => ({ connection, rank: GIVES_WAY.indexOf(connection.state) }))
      .filter(({ rank }) => rank !== -1)
      .sort((a, b) => a.rank - b.rank || a.connection.sinceMs - b.connection.sinceMs);
    const closed = oldestFirst.slice(0, Math.ceil(this.maxOpen * SHARE_CLOSED));
    for (const { connection } of closed) this.close(connection);
    return closed.length > 0;
  }

  private watchAll(): void {
    this.heldRequests -= this.heldByClosed;
    this.heldByClosed = 0;
    const nowMs = performance.now();
    for (const connection of this.open) {
      this.countUnread(connection);
      if (connection.isOverdue(nowMs) || this.hasWaitedTooLong(connection, nowMs)) this.close(connection);
    }
  }

  private hasWaitedTooLong({ state, sinceMs, isUnused }: OpenConnection, nowMs: number): boolean {
    const ageMs = nowMs - sinceMs;
    if (state === 'handshake') return ageMs > HANDSHAKE_MS;
    if (!this.isClosing) return false;
    return isUnused ? ageMs > WATCH_MS : (state === 'silent' || state === 'idle') && ageMs > LAST_HEAD_MS;
  }

  private close(connection: OpenConnection): void {
    this.forget(connection);
    connection.destroy();
  }

  private forget(connection: OpenConnection): void {
    this.open.delete(connection);
    this.unreadBytes -= connection.countedBytes;
    connection.countedBytes = 0;
  }
}

/**
 * How many client connections may be open: the descriptors of the process minus those for its database and everything
 * else.
 */
export function defaultMaxConnections(databasePoolSize: number): number {
  const left = descriptorLimit() - databasePoolSize - OTHER_DESCRIPTORS;
  return Math.max(FEWEST_CONNECTIONS, Math.min(MOST_CONNECTIONS, left));
}

/** How many files and sockets this process may open. Node raises the soft limit to the hard one at start. */
function descriptorLimit(): number {
  try {
    const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
    return limit === undefined ? USUAL_DESCRIPTORS : Number(limit);
  } catch {
    return USUAL_DESCRIPTORS;
  }
}
