import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { RoundRobin } from '../../../ground/scheduling/event-loop-turns.js';

/** A larger flood is refused more often instead: during a shutdown, an idle connection is closed after 5 s. */
const LONGEST_REST_MS = 4_000;
const CHECK_MS = 10;
const LARGE_BODY_BYTES = 8_192;
/** After a pause of the event loop no more connections are read at once than in this time. */
const MAX_SAVED_MS = 20;

/**
 * Stops reading the connections of refused requests for a moment. All of them together are read as often as the process
 * can afford, and projects in rotation. D-152, D-187.
 */
export class RestingConnections {
  private readonly resting = new RoundRobin<bigint | null, Socket>();
  private affordable = 0;
  private checkedAtMs = 0;
  private checking: NodeJS.Timeout | undefined;

  constructor(private readonly refusalsPerMs: () => number) {}

  /** The project is null for an unknown key. */
  rest(projectId: bigint | null, socket: Socket): void {
    // An ending connection only discards the bytes that still arrive.
    if (socket.destroyed || socket.writableEnded) return;
    // Pipelined requests of a resting connection are refused, too.
    if (socket.listeners('resume').includes(pauseAgain)) return;
    // Node resumes reading after an answer.
    socket.pause().on('resume', pauseAgain);
    this.resting.add(projectId, socket);
    if (this.checking) return;
    this.checkedAtMs = performance.now();
    this.checking = setInterval(this.check, CHECK_MS).unref();
  }

  /** Reads all connections again. */
  stop(): void {
    this.affordable = Number.POSITIVE_INFINITY;
    this.check();
  }

  private readonly check = () => {
    const nowMs = performance.now();
    const perMs = Math.max(this.refusalsPerMs(), this.resting.size / LONGEST_REST_MS);
    this.affordable += Math.min(nowMs - this.checkedAtMs, MAX_SAVED_MS) * perMs;
    this.checkedAtMs = nowMs;
    while (this.affordable >= 1 && !this.resting.isEmpty) {
      const socket = this.resting.takeNext();
      if (!socket || socket.destroyed) continue;
      socket.off('resume', pauseAgain).resume();
      this.affordable -= 1;
    }
    if (!this.resting.isEmpty) return;
    clearInterval(this.checking);
    this.checking = undefined;
    this.affordable = 0;
  };
}

/** Whether to receive the next such body would cost more than to refuse it. */
export function hasLargeBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > LARGE_BODY_BYTES;
}

function pauseAgain(this: Socket): void {
  this.pause();
}
