/** The measurements of a window of time. */
export interface Window {
  endsAtMs: number;
  lengthMs: number;
  /** Requests that are admitted and not answered yet. */
  inFlight: number;
  /** Requests that the limit refused in this window. */
  refused: number;
  /** How late the event loop ran its timers, on average. */
  loopDelayMs: number;
  /** Statements that waited for a connection to the database, and requests for their turn, on average. */
  queuedWork: number;
}

const TICK_MS = 20;
const WINDOW_MS = 100;
/** An iteration of the event loop can serve thousands of requests before any timer runs. Then requests are the clock. */
const TIMERS_STALL_MS = 100;
const LEAST = 32;
const MOST = 10_000;
/** A wait below it never begins the limit, whatever the floor is. */
const TOLERATED_MS = 60;
/**
 * The wait under the limit. The p99 of answers is about three times as long. A longer queue answers no more requests, but
 * the collector copies all that wait in it.
 */
const KEPT_MS = 20;
/** The event loop is late, not only interrupted by the collector. */
const LATE_MS = 20;
/** Refusals for each answer: they take less than a seventh of the time, on any machine. */
const REFUSALS_FOR_ANSWER = 0.2;
const LEAST_REFUSALS_PER_MS = 0.2;
/** How long requests must queue, in every window, before the first one is refused. */
const PROOF_MS = 1_000;
/** A window may be one long pause, which alone proves nothing. */
const MOST_PROOF_OF_WINDOW_MS = PROOF_MS / 2;
/** How long after the last refusal the limit is dropped. */
const RECOVERY_MS = 1_000;
const SAMPLES = 256;
const LARGEST_FLOOR_MS = 1_000;
/** How fast the best rate of answers is forgotten, in each window. */
const RATE_DECAY = 0.99;
/** The floor rises by this factor in each window, so that a database that became slower is believed within a minute. */
const FLOOR_DRIFT = 1.002;

/**
 * How many requests may be in flight. There is no limit while answers are about as fast as usual. The limit begins when
 * answers took a multiple of the floor for a second, and the event loop or the pool confirms that requests queue. Then
 * it follows the gradient of the answer time against its floor. D-150.
 */
export class ConcurrencyLimit {
  /** Infinity while nothing is overloaded. */
  value = Number.POSITIVE_INFINITY;
  private readonly samplesMs = new Float64Array(SAMPLES);
  private answers = 0;
  private floorMs = 0;
  private latestMs = 0;
  /** The best rate of the last seconds. */
  private answersPerMs = 0;
  private queueingMs = 0;
  /** Requests that began earlier waited in the queue that the limit has ended. */
  private sinceMs = 0;
  private lastNeededMs = 0;

  get isEnforced(): boolean {
    return this.value !== Number.POSITIVE_INFINITY;
  }

  /** How many refusals the process can afford. */
  get refusalsPerMs(): number {
    return Math.max(LEAST_REFUSALS_PER_MS, this.answersPerMs * REFUSALS_FOR_ANSWER);
  }

  noteAnswer(beganAtMs: number, endedAtMs: number): void {
    if (beganAtMs < this.sinceMs) return;
    this.samplesMs[this.answers % SAMPLES] = endedAtMs - beganAtMs;
    this.answers += 1;
  }

  endWindow(window: Window): void {
    const { lengthMs, inFlight, loopDelayMs, queuedWork } = window;
    const medianMs = this.medianMs(window);
    const answerMs = Math.max(medianMs, loopDelayMs);
    const leastMs = this.isEnforced ? KEPT_MS : TOLERATED_MS;
    const isConfirmed = loopDelayMs > LATE_MS || queuedWork >= 1;
    const ofAnswers = isConfirmed ? medianMs / Math.max(leastMs, 2 * this.floorMs) : 0;
    /** Above 1 requests queue. */
    const pressure = Math.max(ofAnswers, loopDelayMs / leastMs);
    // Little's law: what the clients see in flight, also if each request is answered in the turn that reads it.
    const answersPerMs = this.answers / lengthMs;
    const concurrency = Math.max(inFlight, answersPerMs * answerMs);
    this.answersPerMs = Math.max(answersPerMs, this.answersPerMs * RATE_DECAY);
    const sustainable = (this.answersPerMs * answerMs) / pressure;
    if (this.isEnforced) this.follow(window, pressure, sustainable);
    else this.watch(window, pressure > 1 && concurrency >= 2 * LEAST, sustainable);
    if (!this.isEnforced && pressure <= 1 && this.answers > 0)
      this.floorMs = Math.min(answerMs, this.floorMs * FLOOR_DRIFT || answerMs, LARGEST_FLOOR_MS);
    this.latestMs = medianMs;
    this.answers = 0;
  }

  private watch({ endsAtMs, lengthMs }: Window, isQueueing: boolean, sustainable: number): void {
    this.queueingMs = isQueueing ? this.queueingMs + Math.min(lengthMs, MOST_PROOF_OF_WINDOW_MS) : 0;
    if (this.queueingMs < PROOF_MS) return;
    this.value = bounded(sustainable);
    this.sinceMs = endsAtMs;
    this.lastNeededMs = endsAtMs;
    this.queueingMs = 0;
  }

  private follow({ endsAtMs, refused }: Window, pressure: number, sustainable: number): void {
    if (refused > 0 || pressure > 1) this.lastNeededMs = endsAtMs;
    // Half of the way: a window has few answers. Fewer requests than `sustainable` would not be answered sooner: the
    // machine itself is slow, or refusals take the time.
    const smaller = this.value * Math.max(0.75, 0.5 + 0.5 / pressure);
    if (pressure > 1) this.value = bounded(Math.max(smaller, Math.min(this.value, sustainable)));
    else if (refused > 0) this.value = bounded(this.value + Math.max(Math.sqrt(this.value), this.value / 20));
    if (endsAtMs - this.lastNeededMs >= RECOVERY_MS) this.value = Number.POSITIVE_INFINITY;
  }

  /** If nothing was answered, the oldest request has waited for one more window. */
  private medianMs({ inFlight, lengthMs }: Window): number {
    if (this.answers === 0) return inFlight === 0 ? 0 : this.latestMs + lengthMs;
    const sorted = this.samplesMs.slice(0, Math.min(this.answers, SAMPLES)).sort();
    return sorted[sorted.length >> 1] as number;
  }
}

function bounded(limit: number): number {
  return Math.min(MOST, Math.max(LEAST, Math.round(limit)));
}

/** Measures the event loop and the work that waits, and ends the windows of the limit. D-227. */
export class LoadWatch {
  private lastTickMs = performance.now();
  private windowSinceMs = this.lastTickMs;
  private sums = { ticks: 0, lateMs: 0, queued: 0 };
  private readonly ticking = setInterval(() => this.tick(performance.now()), TICK_MS).unref();

  constructor(
    private readonly limit: ConcurrencyLimit,
    /** Statements and requests that wait. */
    private readonly queuedWork: () => number,
    /** Returns what has happened since the last call. */
    private readonly takeCounts: (nowMs: number) => Pick<Window, 'inFlight' | 'refused'>,
  ) {}

  /** Call it for each request. Returns the time, as `performance.now()`. */
  wake(): number {
    const nowMs = performance.now();
    if (nowMs - this.lastTickMs >= TIMERS_STALL_MS) this.tick(nowMs);
    return nowMs;
  }

  stop(): void {
    clearInterval(this.ticking);
  }

  private tick(nowMs: number): void {
    const { sums } = this;
    sums.ticks += 1;
    sums.lateMs += Math.max(0, nowMs - this.lastTickMs - TICK_MS);
    sums.queued += this.queuedWork();
    this.lastTickMs = nowMs;
    const lengthMs = nowMs - this.windowSinceMs;
    if (lengthMs < WINDOW_MS) return;
    const [loopDelayMs, queuedWork] = [sums.lateMs / sums.ticks, sums.queued / sums.ticks];
    this.limit.endWindow({ endsAtMs: nowMs, lengthMs, loopDelayMs, queuedWork, ...this.takeCounts(nowMs) });
    this.windowSinceMs = nowMs;
    this.sums = { ticks: 0, lateMs: 0, queued: 0 };
  }
}
