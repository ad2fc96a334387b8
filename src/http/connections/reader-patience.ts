import type { Socket } from 'node:net';

/** It is asked every half second, and a client that reads nothing is closed in 15 s. */
const PATIENCE_MS = 14_000;
/** Each kilobyte that leaves buys a second: a client that reads 1 KB/s may go on for as long as its answer is. */
const BYTES_PER_MS = 1_024 / 1_000;

/** How long a client that reads slowly is still waited for. */
export class ReaderPatience {
  private endsAtMs: number | null = null;
  private sentBytes = 0;

  constructor(private readonly socket: Socket) {}

  /** To be asked regularly while an answer waits for its reader. */
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

  /** Another answer, another patience. */
  renew(): void {
    this.endsAtMs = null;
  }
}

/**
 * Bytes that have left for the kernel. `writableLength` counts a large write until its last byte has left; Node's own
 * timeout of a socket looks at these two fields for the same reason. Without them every slow reader has 14 s.
 */
function sentBytesOf(socket: Socket): number {
  const { _handle: handle } = socket as unknown as {
    _handle?: { bytesWritten?: number; writeQueueSize?: number } | null;
  };
  return (handle?.bytesWritten ?? 0) - (handle?.writeQueueSize ?? 0);
}
