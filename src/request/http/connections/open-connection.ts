import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Discarding } from './discarding.js';

/** Checked every half second, so that a client that reads nothing is closed within 15 s. */
const PATIENCE_MS = 14_000;
/** Each kilobyte sent adds a second: a client that reads 1 KB/s may read a response of any length. */
const BYTES_PER_MS = 1_024 / 1_000;

export type ConnectionState =
  | 'handshake'
  /** No request head has arrived yet. */
  | 'silent'
  /** All its requests have their response. */
  | 'idle'
  | 'receiving'
  | 'answering'
  /** The client has the answer so far: a stream, which can be resumed. */
  | 'streaming'
  /** The client reads slower than the responses are sent. */
  | 'unread'
  /** No response follows; what still arrives is discarded. */
  | 'ending';

/** The counters across all connections. */
export interface Totals {
  addHeld(connection: OpenConnection): void;
  removeHeld(): void;
  countUnread(connection: OpenConnection): void;
}

type Held = [handler: RequestListener, request: IncomingMessage, response: ServerResponse];

/**
 * A TCP connection, plain or TLS. Its requests are handled one after the other: the next one starts when the previous
 * response has left the process. While a request waits, the connection is not read. D-25.
 */
export class OpenConnection {
  /** The response that is being produced or sent. */
  current: ServerResponse | null = null;
  /** The response to the last parsed request; null = both are complete. An idle connection keeps neither in memory. */
  latest: ServerResponse | null = null;
  /** When the connection was accepted or became idle, as `performance.now()`. */
  sinceMs = performance.now();
  /** This connection's part of the total. */
  countedBytes = 0;
  /** The TLS socket once its handshake is done; before that, and without TLS, the TCP socket. */
  private socket: Socket;
  private isSecured = false;
  private hasRequested = false;
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

  /** Requests can arrive on this socket from now on. */
  carry(socket: Socket): void {
    this.isSecured = true;
    this.socket = socket;
    this.patience = new ReaderPatience(socket);
    const { destroySoon } = socket;
    // Node calls it after the last response.
    socket.destroySoon = () => {
      if (this.hasArrived()) destroySoon.call(socket);
      else this.endInStages();
    };
    // With CONNECT Node removes its own listener, and an error without a listener ends the process.
    socket.on('error', () => {});
    // Node resumes reading automatically after a response.
    socket.on('resume', () => {
      if (this.held.length > 0 && !this.isEnding) socket.pause();
    });
  }

  get state(): ConnectionState {
    if (this.isEnding) return 'ending';
    if (!this.isSecured) return 'handshake';
    if (this.current === null) return this.hasRequested ? 'idle' : 'silent';
    if (this.unreadBytes > 0) return 'unread';
    if (!this.current.req.complete) return 'receiving';
    return this.current.headersSent ? 'streaming' : 'answering';
  }

  /** The address of the client, or of the proxy in front of it. */
  get address(): string {
    return this.tcp.remoteAddress ?? '';
  }

  /** Response bytes that the client has not accepted yet. */
  get unreadBytes(): number {
    return this.isSecured ? this.socket.writableLength : 0;
  }

  /** Requests that wait for earlier responses. */
  get heldRequests(): number {
    return this.held.length;
  }

  /** No handshake, or no byte of a request. */
  get isUnused(): boolean {
    return !this.isSecured || (!this.hasRequested && this.socket.bytesRead === 0);
  }

  /** Handles the request now, or after the requests before it. */
  handleInOrder(handler: RequestListener, request: IncomingMessage, response: ServerResponse): void {
    if (this.isEnding || this.socket.destroyed) return;
    this.hasRequested = true;
    this.latest = response;
    if (this.current === null) {
      this.current = response;
      this.begin(handler, request, response);
    } else {
      this.held.push([handler, request, response]);
      this.socket.pause();
      this.totals.addHeld(this);
    }
  }

  /** Sends the last words, then discards what the client sends until it has had time to read them. */
  endInStages(lastWords = ''): void {
    if (this.isEnding) return;
    this.isEnding = true;
    this.discarding = new Discarding(this.socket);
    this.socket.end(lastWords);
    // Node's parser releases a socket that has another reader.
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

  /** Whether the client has taken too long to read or to send. Call it regularly. */
  isOverdue(nowMs: number): boolean {
    if (!this.isEnding && this.current !== null) return this.patience.hasEnded(nowMs);
    // The whole body of a request with an early response.
    if (!this.isEnding && this.hasArrived()) this.discarding = null;
    return this.discarding?.isOver(nowMs) ?? false;
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
    // The held requests are subtracted when the connection is forgotten.
    if (this.socket.destroyed) return;
    const next = this.held.shift();
    this.current = next?.[2] ?? null;
    this.sinceMs = performance.now();
    this.patience.renew();
    if (this.countedBytes > 0) this.totals.countUnread(this);
    if (next) {
      this.totals.removeHeld();
      if (this.held.length === 0) this.socket.resume();
      // Lets other connections proceed in between, however many requests this client has sent at once.
      setImmediate(() => this.begin(...next));
    } else if (this.hasArrived()) {
      this.latest = null;
    } else if (!this.isEnding) {
      // Node would continue to parse the chunks: a chunk of one byte takes longer to parse than to send.
      if (this.latest?.req.headers['transfer-encoding'] !== undefined) this.endInStages();
      else this.discarding = new Discarding(this.socket);
    }
  };
}

/**
 * Node parses everything it has read, up to 2,500 requests, even if the socket is destroyed; the 2 marks the rest as not
 * HTTP.
 */
function stopParsing(socket: Socket): void {
  const { parser } = socket as { parser?: { onIncoming: unknown } | null };
  if (parser) parser.onIncoming = () => 2;
}

/** How long to wait for a client that reads slowly. */
class ReaderPatience {
  private endsAtMs: number | null = null;
  private sentBytes = 0;

  constructor(private readonly socket: Socket) {}

  /** Whether to stop waiting. Call it regularly while a response waits for its reader. */
  hasEnded(nowMs: number): boolean {
    if (this.socket.writableLength === 0) {
      this.renew();
      return false;
    }
    const sentBytes = sentBytesOf(this.socket);
    const latestMs = nowMs + PATIENCE_MS;
    const boughtMs = (sentBytes - this.sentBytes) / BYTES_PER_MS;
    this.endsAtMs = this.endsAtMs === null ? latestMs : Math.min(latestMs, this.endsAtMs + boughtMs);
    this.sentBytes = sentBytes;
    return nowMs > this.endsAtMs;
  }

  /** Restarts the time for a new response. */
  renew(): void {
    this.endsAtMs = null;
  }
}

/**
 * Bytes that the kernel has taken. `writableLength` counts a large write until its last byte has left; Node's own socket
 * timeout uses these two fields for the same reason. Without them every slow reader gets 14 s.
 */
function sentBytesOf(socket: Socket): number {
  const { _handle: handle } = socket as unknown as {
    _handle?: { bytesWritten?: number; writeQueueSize?: number } | null;
  };
  return (handle?.bytesWritten ?? 0) - (handle?.writeQueueSize ?? 0);
}
