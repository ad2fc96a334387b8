import type { RequestListener, ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import { type TLSSocket, Server as TlsServer } from 'node:tls';
import { type ConnectionState, OpenConnection, type Totals } from './open-connection.js';

const WATCH_MS = 500;
/** It is looked for every half second, and 10 s are promised. */
const HANDSHAKE_MS = 9_400;
/** How long a client may take for the head of a request while the process ends: then Node does not look any more. */
const LAST_HEAD_MS = 5_000;
/** About 2 KB each. */
const MAX_HELD_REQUESTS = 5_000;
/** Requests that a connection may have waiting even when all together have too many. */
const ALWAYS_HELD = 16;
const MAX_UNREAD_BYTES = 64 * 1_024 * 1_024;
/** Room is made for several at a time: looking for the oldest costs as much as for one. */
const SHARE_CLOSED = 1 / 64;

/** These make room for a new connection, first to last. An answer in the making never does. */
const GIVES_WAY: readonly ConnectionState[] = [
  'ending',
  'handshake',
  'silent',
  'idle',
  'unread',
  'receiving',
];

/** Every connection that clients have to this process, whichever port they came by, and its bounds. */
export class OpenConnections implements Totals {
  private readonly open = new Set<OpenConnection>();
  private readonly byTcp = new WeakMap<Socket, OpenConnection>();
  /** By the socket that carries its requests. */
  private readonly bySocket = new WeakMap<Socket, OpenConnection>();
  /** Answers to requests that were sent before the answer to the one before. */
  private readonly pipelined = new WeakSet<ServerResponse>();
  private readonly watching = setInterval(() => this.watchAll(), WATCH_MS).unref();
  private heldRequests = 0;
  /** Those of closed connections count for a moment more, so that one after another can't bring as many. */
  private heldByClosed = 0;
  private unreadBytes = 0;
  private isClosing = false;

  constructor(private readonly maxOpen: number) {}

  /** The connections of this server count from now on. */
  watch(server: Server): void {
    const isTls = server instanceof TlsServer;
    server.on('connection', (tcp: Socket) => this.accept(tcp, isTls));
    if (!isTls) return;
    server.on('secureConnection', (socket: TLSSocket) => {
      // Node says nowhere else which TCP socket is below. Without a bound nothing is served.
      const { _parent: tcp } = socket as unknown as { _parent?: Socket };
      const connection = tcp && this.byTcp.get(tcp);
      if (connection) this.carry(connection, socket);
      else socket.destroy();
    });
  }

  /** The handler, for requests whose turn it is. */
  inTurn(handler: RequestListener): RequestListener {
    return (request, response) => this.of(request.socket)?.take(handler, request, response);
  }

  /** Null = its handshake is not done. */
  of(socket: Socket): OpenConnection | null {
    return this.bySocket.get(socket) ?? null;
  }

  isPipelined(response: ServerResponse): boolean {
    return this.pipelined.has(response);
  }

  get size(): number {
    return this.open.size;
  }

  addHeld(connection: OpenConnection, response: ServerResponse): void {
    this.pipelined.add(response);
    this.heldRequests += 1;
    // Node goes on to parse all that it has read of a connection, unless that is closed.
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
    if (this.unreadBytes > MAX_UNREAD_BYTES) this.close(this.mostUnread());
  }

  /** Closes what no client has used, at once and from now on: nothing else would end before its time is up. */
  closeUnused(): void {
    this.isClosing = true;
    for (const connection of this.open) if (connection.isUnused) this.close(connection);
  }

  closeAll(): void {
    this.stop();
    for (const connection of this.open) this.close(connection);
  }

  /** No server is open any more. */
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
    this.byTcp.set(tcp, connection);
    tcp.once('close', () => {
      this.forget(connection);
      this.heldByClosed += connection.heldRequests;
    });
    if (!isTls) this.carry(connection, tcp);
  }

  private carry(connection: OpenConnection, socket: Socket): void {
    this.bySocket.set(socket, connection);
    connection.carry(socket);
  }

  private mostUnread(): OpenConnection {
    return [...this.open].reduce((most, other) => (other.countedBytes > most.countedBytes ? other : most));
  }

  /** Closes the oldest of those who have least to lose. False = every one is being answered. */
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
