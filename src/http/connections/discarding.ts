import type { Socket } from 'node:net';

const MAX_BYTES = 64 * 1_024 * 1_024;
const MAX_MS = 9_000;
const MAX_QUIET_MS = 2_000;

/**
 * What a client sends although it has been answered: read and thrown away for a while, since closing with bytes unread
 * would reset the connection, and take the answer from a client that has not read it yet. RFC 9112 §9.6.
 */
export class Discarding {
  private readonly sinceMs = performance.now();
  private readonly fromBytes;
  private lastBytes;
  private lastMs = this.sinceMs;

  constructor(private readonly socket: Socket) {
    this.fromBytes = socket.bytesRead;
    this.lastBytes = socket.bytesRead;
  }

  isTooMuch(): boolean {
    return this.socket.bytesRead - this.fromBytes > MAX_BYTES;
  }

  /** Whether the client has had its time, or is quiet. To be asked regularly. */
  isTooLong(nowMs: number): boolean {
    const { bytesRead } = this.socket;
    if (bytesRead !== this.lastBytes) this.lastMs = nowMs;
    this.lastBytes = bytesRead;
    return nowMs - this.lastMs > MAX_QUIET_MS || nowMs - this.sinceMs > MAX_MS;
  }
}
