import type { IncomingHttpHeaders, IncomingMessage, RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { FastifyBaseLogger } from 'fastify';
import { AppError } from '../../ground/kernel/errors.js';
import type { OpenConnection } from './connections/open-connection.js';
import type { OpenConnections } from './connections/open-connections.js';
import { MAX_HEADERS } from './early-refusals.js';
import { unhookedError } from './error-reply.js';

/** Node's limits for every connection, on every port. */
export const HTTP_LIMITS = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  // Longer than load balancers keep a connection: they must close it, not the gateway.
  keepAliveTimeout: 72_000,
  // Node would refuse in its own format; the request guard refuses in the gateway's.
  requireHostHeader: false,
} as const;

/** Each piece takes about 500 bytes of memory, whatever its size. */
const MAX_PIECES = 500;
/** Beyond `MAX_PIECES`, the minimum average size: a body of 100 KB has at most 800 pieces. */
const MIN_PIECE_BYTES = 128;

/** Browsers send up to 200. Matching a list of 15,000 characters takes up to 20 ms. */
const MAX_PREFERENCE_CHARACTERS = 500;
const PREFERENCES = ['accept', 'accept-encoding'] as const;

/** Headers that count from trusted proxies only. */
const OF_PROXIES = ['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'traceparent'] as const;

/** The part that all servers of a process share in front of their handlers. */
export class Reception {
  /** Connections that are refused, or will be after their earlier responses. */
  private readonly refused = new WeakSet<OpenConnection>();

  constructor(
    readonly connections: OpenConnections,
    private readonly log: FastifyBaseLogger,
    /** The headers with an address's remaining quota. */
    private readonly quotaHeadersOf: (address: string) => Promise<Record<string, string>>,
  ) {}

  /**
   * Passes the requests of a server without a handler to this one, in order. Refuses everything else in the gateway's
   * format.
   */
  receive<S extends Server>(server: S, handler: RequestListener): S {
    const takeInTurn = this.connections.inTurn(handler);
    const inTurn: RequestListener = (request, response) => {
      disregardLongPreferences(request.headers);
      if ((request.socket as TLSSocket).encrypted) disregardForwarded(request.headers);
      boundPieces(request, () => this.refuse(request.socket, 'The body arrives in too many small pieces.'));
      takeInTurn(request, response);
    };
    server.on('request', inTurn);
    // RFC 9110 §10.1.1 allows a server to ignore an unknown expectation; Node would refuse it in its own format.
    server.on('checkExpectation', inTurn);
    server.on('connect', (_, socket) => this.refuse(socket as Socket, 'CONNECT is not supported here.'));
    server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) =>
      this.refuse(socket as Socket, code === 'ECONNRESET' ? null : reasonText(code)),
    );
    // Node silently drops headers over its own limit; the request guard sees one too many and refuses.
    server.maxHeadersCount = MAX_HEADERS + 1;
    this.connections.watch(server);
    return server;
  }

  /**
   * Refuses input that never becomes a request. Sends the error in the gateway's format after earlier responses, then ends
   * the connection. A reason of null = the client has disconnected. D-21.
   */
  private refuse(socket: Socket, reason: string | null): void {
    const connection = this.connections.of(socket);
    // Nothing can be sent before the end of a handshake.
    if (!connection) socket.destroy();
    // Browsers connect ahead of their requests, and would take a refusal for the answer to their first request.
    else if (reason === null || connection.isUnused) connection.destroy();
    else if (!this.refused.has(connection) && connection.state !== 'ending') {
      this.refused.add(connection);
      void this.refuseInTurn(connection, reason);
    }
  }

  private async refuseInTurn(connection: OpenConnection, reason: string): Promise<void> {
    const { current, latest } = connection;
    const isInBody = latest?.req.complete === false;
    if (current && !(isInBody && current === latest)) {
      // Otherwise the client would take this for the response to its previous request.
      current.once('close', () => void this.refuseInTurn(connection, reason));
    } else if (isInBody && (!current || current.headersSent)) {
      // The request with this body already has its response.
      connection.destroy();
    } else {
      const answer = await this.answer(connection.address, reason);
      // Meanwhile the request may have been refused because of its head.
      connection.endInStages(current?.headersSent ? '' : answer);
    }
  }

  private async answer(address: string, reason: string): Promise<string> {
    const { head, body } = unhookedError(new AppError('invalid_request', reason));
    this.log.info({ requestId: head['x-request-id'], reason }, 'request refused before it was parsed');
    const quota = await this.quotaHeadersOf(address).catch(() => ({}));
    const lines = Object.entries({ ...head, connection: 'close', ...quota }).map(
      ([name, value]) => `${name}: ${value}`,
    );
    return ['HTTP/1.1 400 Bad Request', ...lines, '', body].join('\r\n');
  }
}

function reasonText(code: string | undefined): string {
  if (code === 'HPE_HEADER_OVERFLOW') return 'The request headers are larger than 16 KB.';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'The request did not arrive in time.';
  return 'The request is not valid HTTP/1.1.';
}

/**
 * Removes preference lists that are too long to match, so that every reader responds as if the client had sent none. RFC
 * 9110 §12.5.1, §12.5.3: a server may disregard them.
 */
function disregardLongPreferences(headers: IncomingHttpHeaders): void {
  for (const name of PREFERENCES) {
    const list = headers[name];
    if (list !== undefined && list.length > MAX_PREFERENCE_CHARACTERS) delete headers[name];
  }
}

/** A proxy passes the gateway's own TLS through and can change nothing in it: the headers are the client's. */
function disregardForwarded(headers: IncomingHttpHeaders): void {
  for (const name of OF_PROXIES) delete headers[name];
}

/**
 * Calls `refuse` once, and drops everything that follows, when a body arrives in too many small pieces. Node makes a
 * Buffer of each chunk, TLS record or segment, and other limits count only their bytes. Call it before the first piece.
 */
function boundPieces(request: IncomingMessage, refuse: () => void): void {
  const { 'transfer-encoding': coding, 'content-length': length } = request.headers;
  // Each piece has at least a byte.
  if (coding === undefined && Number(length ?? 0) <= MAX_PIECES) return;
  let [pieces, bytes] = [0, 0];
  let isRefused = false;
  const push = request.push.bind(request);
  request.push = (piece: Buffer | null) => {
    if (isRefused) return true;
    if (piece === null) return push(piece);
    pieces += 1;
    bytes += piece.length;
    isRefused = pieces > MAX_PIECES && bytes < pieces * MIN_PIECE_BYTES;
    if (!isRefused) return push(piece);
    refuse();
    return true;
  };
}
