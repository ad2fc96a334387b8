import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Discarding } from './discarding.js';
import { ReaderPatience } from './reader-patience.js';

export type ConnectionState =
  | 'handshake'
  /** No head of a request has arrived yet. */
  | 'silent'
  /** All its requests are answered. */
  | 'idle'
  | 'receiving'
  | 'answering'
  /** The client reads slower than it is answered. */
  | 'unread'
  /** Nothing is answered any more; what still arrives is discarded. */
  | 'ending';

/** Counts for all connections together. */
export interface Totals {
  addHeld(connection: OpenConnection, response: ServerResponse): void;
  removeHeld(): void;
  countUnread(connection: OpenConnection): void;
}

type Held = [handler: RequestListener, request: IncomingMessage, response: ServerResponse];

/**
 * One TCP connection, plain or TLS. Its requests are answered one after another: the next begins when the answer before
 * it has left the process. While a request waits for its turn the connection is not read.
 */
export class OpenConnection {
  /** The answer in the making or on its way. */
  current: ServerResponse | null = null;
  /** The answer to the request that was parsed last. */
  latest: ServerResponse | null = null;
  /** When it was accepted, or became idle; as `performance.now()`. */
  sinceMs = performance.now();
  /** The part of it in the total of all connections. */
  countedBytes = 0;
  /** The TLS socket once its handshake is done; before that, and without TLS, the TCP socket. */
  private socket: Socket;
  private isSecured = false;
  private isEnding = false;
  private readonly held: Held[] = [];
  private patience: ReaderPatience;
  private discarding: Discarding | null = null;

  constructor(
    private readonly tcp: Socket,
    private readonly totals: Totals,
  ) {
    this.socket = tcp;
    this.patience = new ReaderPatience(tcp);
  }

  /** Requests may come by this socket from now on. */
  carry(socket: Socket): void {
    this.isSecured = true;
    this.socket = socket;
    this.patience = new ReaderPatience(socket);
    const { destroySoon } = socket;
    // Node calls it after the last answer.
    socket.destroySoon = () => {
      if (this.hasArrived()) destroySoon.call(socket);
      else this.endInStages();
    };
    // Node reads on by itself when an answer has left.
    socket.on('resume', () => {
      if (this.held.length > 0 && !this.isEnding) socket.pause();
    });
  }

  get state(): ConnectionState {
    if (this.isEnding) return 'ending';
    if (!this.isSecured) return 'handshake';
    if (this.current === null) return this.latest === null ? 'silent' : 'idle';
    if (this.unreadBytes > 0) return 'unread';
    return this.current.req.complete ? 'answering' : 'receiving';
  }

  /** Of the client, or of the proxy before it. */
  get address(): string {
    return this.tcp.remoteAddress ?? '';
  }

  /** Bytes of answers that the client has not made room for. */
  get unreadBytes(): number {
    return this.isSecured ? this.socket.writableLength : 0;
  }

  /** Requests that wait for the answers before them. */
  get heldRequests(): number {
    return this.held.length;
  }

  /** No handshake, or no byte of a request. */
  get isUnused(): boolean {
    return !this.isSecured || (this.latest === null && this.socket.bytesRead === 0);
  }

  /** Begins to answer, at once or when it is its turn. */
  take(handler: RequestListener, request: IncomingMessage, response: ServerResponse): void {
    if (this.isEnding || this.socket.destroyed) return;
    this.latest = response;
    if (this.current === null) {
      this.current = response;
      this.begin(handler, request, response);
    } else {
      this.held.push([handler, request, response]);
      this.socket.pause();
      this.totals.addHeld(this, response);
    }
  }

  /** Writes what is still to be said, and lets the client read it while what it sends is discarded. */
  endInStages(lastWords = ''): void {
    if (this.isEnding) return;
    this.isEnding = true;
    this.discarding = new Discarding(this.socket);
    this.socket.end(lastWords);
    // Node's parser lets go of a socket that somebody else reads.
    this.socket.removeAllListeners('data');
    this.socket.on('data', () => {}).resume();
    // The parser may have paused the socket below its stream, which then waits for a read that never started.
    this.socket._read(0);
  }

  destroy(): void {
    stopParsing(this.socket);
    this.socket.destroy();
    this.tcp.destroy();
  }

  /** Whether the client has read or sent for too long. To be asked regularly. */
  isOverdue(nowMs: number): boolean {
    if (this.isEnding) return this.discarding?.isTooMuch() || this.discarding?.isTooLong(nowMs) || false;
    if (this.current !== null) return this.patience.hasEnded(nowMs);
    // The body of a request that was answered early. Node bounds its time.
    if (this.discarding && this.hasArrived()) this.discarding = null;
    return this.discarding?.isTooMuch() ?? false;
  }

  private hasArrived(): boolean {
    return this.held.length === 0 && (this.latest?.req.complete ?? true);
  }

  private begin(handler: RequestListener, request: IncomingMessage, response: ServerResponse): void {
    if (this.isEnding || this.socket.destroyed) return;
    response.on('prefinish', this.onWritten).on('close', this.onAnswered);
    handler(request, response);
  }

  private readonly onWritten = () => {
    if (this.unreadBytes > 0) this.totals.countUnread(this);
  };

  private readonly onAnswered = () => {
    // Its held requests are counted off when the connection is forgotten.
    if (this.socket.destroyed) return;
    const next = this.held.shift();
    this.current = next?.[2] ?? null;
    this.sinceMs = performance.now();
    this.patience.renew();
    if (this.countedBytes > 0) this.totals.countUnread(this);
    if (next) {
      this.totals.removeHeld();
      if (this.held.length === 0) this.socket.resume();
      // Other connections have their turn in between, however many requests this client has sent at once.
      setImmediate(() => this.begin(...next));
    } else if (!this.hasArrived() && !this.isEnding) {
      // Node would go on parsing its chunks: a chunk of one byte takes more time than to send it.
      if (this.latest?.req.headers['transfer-encoding'] !== undefined) this.endInStages();
      else this.discarding = new Discarding(this.socket);
    }
  };
}

/** Node parses all it has read, up to 2,500 requests, although the socket is destroyed; the 2 says that no more of it is HTTP. */
function stopParsing(socket: Socket): void {
  const { parser } = socket as { parser?: { onIncoming: unknown } | null };
  if (parser) parser.onIncoming = () => 2;
}
