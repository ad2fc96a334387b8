import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';

/** What is known of an HTTP/1.1 connection. */
export interface Connection {
  /** Unique among all processes. */
  readonly name: string;
  /** The last `Authorization` header on it, and the digest of the token in it; null = no token at all. */
  authorization: string | undefined;
  digest: string | null;
}

/** Clients send the same key with each request of a connection: it is read and hashed once. */
export class Connections {
  private readonly known = new WeakMap<Socket, Connection>();

  of(socket: Socket): Connection {
    const known = this.known.get(socket);
    if (known) return known;
    const connection = newConnection();
    this.known.set(socket, connection);
    return connection;
  }
}

export function newConnection(): Connection {
  return { name: randomUUID(), authorization: undefined, digest: null };
}
