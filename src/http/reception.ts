import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import { boundPieces } from './connections/body-pieces.js';
import type { OpenConnection } from './connections/open-connection.js';
import type { OpenConnections } from './connections/open-connections.js';
import { disregardLongPreferences } from './preferences.js';
import type { UnparsableRefusals } from './unparsable.js';

/** What Node holds every connection to, whichever port it came in by. */
export const HTTP_LIMITS = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  // Longer than load balancers keep a connection: they must be the ones who close it.
  keepAliveTimeout: 72_000,
  // Node would refuse in a form of its own; the guard of requests does in ours.
  requireHostHeader: false,
} as const;

/** What all servers of a process have in common in front of their handlers. */
export class Reception {
  constructor(
    readonly connections: OpenConnections,
    private readonly refusals: UnparsableRefusals,
  ) {}

  /** Makes a server without a handler bring its requests to this one, in turn, and refuse all else in our form. */
  receive<S extends Server>(server: S, handler: RequestListener): S {
    const takeInTurn = this.connections.inTurn(handler);
    const inTurn: RequestListener = (request, response) => {
      disregardLongPreferences(request.headers);
      boundPieces(request, () =>
        this.refuse(request.socket, (connection) =>
          this.refusals.refuse(connection, 'The body arrives in too many small chunks.'),
        ),
      );
      takeInTurn(request, response);
    };
    server.on('request', inTurn);
    // RFC 9110 §10.1.1 allows to ignore an expectation that is not known; Node would refuse it in a form of its own.
    server.on('checkExpectation', inTurn);
    server.on('connect', (_, socket) =>
      this.refuse(socket as Socket, (connection) =>
        this.refusals.refuse(connection, 'There is no tunnel here.'),
      ),
    );
    server.on('clientError', (error, socket) =>
      this.refuse(socket as Socket, (connection) => this.refusals.refuseUnparsable(connection, error)),
    );
    // Node drops what exceeds its own count without a word; the guard of requests counts and refuses.
    server.maxHeadersCount = 0;
    this.connections.watch(server);
    return server;
  }

  private refuse(socket: Socket, refuse: (connection: OpenConnection) => void): void {
    const connection = this.connections.of(socket);
    // Before the end of a handshake nothing can be said.
    if (connection) refuse(connection);
    else socket.destroy();
  }
}
