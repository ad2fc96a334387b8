import type { ConcurrencyLimit } from './concurrency-limit.js';

const TICK_MS = 20;
const WINDOW_MS = 100;
/** An iteration of the event loop can serve thousands of requests before any timer runs. Then requests are the clock. */
const TIMERS_STALL_MS = 100;
/** Without requests nothing is measured. */
const IDLE_WINDOWS = 20;

interface Counts {
  inFlight: number;
  refused: number;
}

/** Measures the event loop and the queue of the database while there are requests, and ends the windows of the limit. */
export class LoadWatch {
  private ticking: NodeJS.Timeout | null = null;
  private lastTickMs = 0;
  private windowSinceMs = 0;
  private ticks = 0;
  private lateMs = 0;
  private queued = 0;
  private idleWindows = 0;

  constructor(
    private readonly limit: ConcurrencyLimit,
    /** Statements and requests that wait. */
    private readonly queuedWork: () => number,
    /** Called after each window; returns what happened in it. */
    private readonly takeCounts: () => Counts,
    private readonly onWindow: (endsAtMs: number) => void,
  ) {}

  /** Call it for each request. Returns the time, as `performance.now()`. */
  wake(): number {
    this.idleWindows = 0;
    const nowMs = performance.now();
    if (this.ticking) {
      if (nowMs - this.lastTickMs >= TIMERS_STALL_MS) this.tick();
      return nowMs;
    }
    this.lastTickMs = nowMs;
    this.windowSinceMs = this.lastTickMs;
    this.ticking = setInterval(this.tick, TICK_MS).unref();
    return nowMs;
  }

  stop(): void {
    if (this.ticking) clearInterval(this.ticking);
    this.ticking = null;
  }

  private readonly tick = () => {
    const nowMs = performance.now();
    this.ticks += 1;
    this.lateMs += Math.max(0, nowMs - this.lastTickMs - TICK_MS);
    this.queued += this.queuedWork();
    this.lastTickMs = nowMs;
    if (nowMs - this.windowSinceMs >= WINDOW_MS) this.endWindow(nowMs);
  };

  private endWindow(endsAtMs: number): void {
    const counts = this.takeCounts();
    const lengthMs = endsAtMs - this.windowSinceMs;
    const loopDelayMs = this.lateMs / this.ticks;
    this.limit.endWindow({
      ...counts,
      endsAtMs,
      lengthMs,
      loopDelayMs,
      queuedWork: this.queued / this.ticks,
    });
    this.windowSinceMs = endsAtMs;
    this.ticks = 0;
    this.lateMs = 0;
    this.queued = 0;
    this.onWindow(endsAtMs);
    this.idleWindows += 1;
    if (this.idleWindows > IDLE_WINDOWS && counts.inFlight === 0 && !this.limit.isEnforced) this.stop();
  }
}
