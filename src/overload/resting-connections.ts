import type { Socket } from 'node:net';

/** The shortest Retry-After: a client that waits as told notices nothing. */
const LONGEST_REST_MS = 1_000;
const CHECK_MS = 10;

/**
 * Stops reading the connections of refused requests for a moment if there are too many refusals. At ten times the
 * capacity, the refusals alone would use all the time of the process.
 */
export class RestingConnections {
  private readonly resting: { socket: Socket; untilMs: number }[] = [];
  private first = 0;
  private nextSlotMs = 0;
  private waking: NodeJS.Timeout | null = null;

  constructor(private readonly refusalsPerMs: () => number) {}

  /** Call it when the refusal has been written. */
  rest(socket: Socket): void {
    const nowMs = performance.now();
    this.nextSlotMs = Math.min(
      Math.max(nowMs, this.nextSlotMs + 1 / this.refusalsPerMs()),
      nowMs + LONGEST_REST_MS,
    );
    if (this.nextSlotMs - nowMs < CHECK_MS || socket.destroyed) return;
    socket.pause();
    this.resting.push({ socket, untilMs: this.nextSlotMs });
    this.waking ??= setInterval(this.wake, CHECK_MS).unref();
  }

  /** Reads all connections again. */
  stop(): void {
    this.wakeUntil(Number.POSITIVE_INFINITY);
  }

  private readonly wake = () => this.wakeUntil(performance.now());

  private wakeUntil(nowMs: number): void {
    for (
      let next = this.resting[this.first];
      next && next.untilMs <= nowMs;
      next = this.resting[this.first]
    ) {
      next.socket.resume();
      this.first += 1;
    }
    this.resting.splice(0, this.first);
    this.first = 0;
    if (this.resting.length > 0) return;
    if (this.waking) clearInterval(this.waking);
    this.waking = null;
  }
}
