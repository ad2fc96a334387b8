import type { Socket } from 'node:net';
import { RoundRobin } from '../../ground/scheduling/round-robin.js';

/** A larger flood is refused more often instead: during a shutdown, an idle connection is closed after 5 s. */
const LONGEST_REST_MS = 4_000;
const CHECK_MS = 10;
/** After a pause of the event loop no more connections are read at once than in this time. */
const MAX_SAVED_MS = 20;

/**
 * Stops reading the connections of refused requests for a moment if there are too many refusals. All of them together are
 * read as often as the process can afford, and projects in rotation. D-152, D-187.
 */
export class RestingConnections {
  private readonly resting = new RoundRobin<bigint | null, Socket>();
  private affordable = 0;
  private countedAtMs = 0;
  private waking: NodeJS.Timeout | null = null;

  constructor(private readonly refusalsPerMs: () => number) {}

  /** Call it when the refusal has been written. The project is null for an unknown key. */
  rest(projectId: bigint | null, socket: Socket): void {
    // An ending connection only discards the bytes that still arrive.
    if (socket.destroyed || socket.writableEnded) return;
    this.count();
    if (this.resting.isEmpty && this.affordable >= 1) {
      this.affordable -= 1;
      return;
    }
    socket.pause();
    this.resting.add(projectId, socket);
    this.waking ??= setInterval(this.wake, CHECK_MS).unref();
  }

  /** Reads all connections again. */
  stop(): void {
    for (let socket = this.resting.takeNext(); socket; socket = this.resting.takeNext()) socket.resume();
    this.wake();
  }

  private readonly wake = () => {
    this.count();
    while (this.affordable >= 1 && !this.resting.isEmpty) {
      const socket = this.resting.takeNext();
      if (!socket || socket.destroyed) continue;
      socket.resume();
      this.affordable -= 1;
    }
    if (!this.resting.isEmpty || !this.waking) return;
    clearInterval(this.waking);
    this.waking = null;
  };

  private count(): void {
    const nowMs = performance.now();
    const perMs = Math.max(this.refusalsPerMs(), this.resting.size / LONGEST_REST_MS);
    this.affordable = Math.min(this.affordable + (nowMs - this.countedAtMs) * perMs, MAX_SAVED_MS * perMs);
    this.countedAtMs = nowMs;
  }
}
