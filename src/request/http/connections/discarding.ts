import type { Socket } from 'node:net';

const MAX_BYTES = 64 * 1_024 * 1_024;
const MAX_MS = 9_000;
const MAX_QUIET_MS = 2_000;

/**
 * Reads and discards, for a limited time, what a client sends after its response. To close a connection with unread bytes
 * would reset it, and a slow client would lose the response. RFC 9112 §9.6.
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

  /** Whether the client has sent too much, for too long, or is quiet. Call it regularly. */
  isOver(nowMs: number): boolean {
    const { bytesRead } = this.socket;
    if (bytesRead !== this.lastBytes) this.lastMs = nowMs;
    this.lastBytes = bytesRead;
    const isLate = nowMs - this.lastMs > MAX_QUIET_MS || nowMs - this.sinceMs > MAX_MS;
    return isLate || bytesRead - this.fromBytes > MAX_BYTES;
  }
}
