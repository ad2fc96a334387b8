/** The measurements of a window of time; the shedder ends one about every 100 ms. */
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
/** How long requests must queue, in every window, before the first one is refused. A window may be one long pause. */
const PROOF_MS = 1_000;
const PROOF_WINDOWS = 2;
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
  private current = Number.POSITIVE_INFINITY;
  private readonly samplesMs = new Float64Array(SAMPLES);
  private answers = 0;
  private floorMs = 0;
  private latestMs = 0;
  /** The best rate of the last seconds. */
  private answersPerMs = 0;
  private queueingSinceMs: number | null = null;
  private queueingWindows = 0;
  /** Requests that began earlier waited in the queue that the limit has ended. */
  private sinceMs = 0;
  private lastNeededMs = 0;

  /** Infinity while nothing is overloaded. */
  get value(): number {
    return this.current;
  }

  get isEnforced(): boolean {
    return this.current !== Number.POSITIVE_INFINITY;
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
    const { loopDelayMs, queuedWork } = window;
    const medianMs = this.medianMs(window);
    const answerMs = Math.max(medianMs, loopDelayMs);
    const leastMs = this.isEnforced ? KEPT_MS : TOLERATED_MS;
    const isConfirmed = loopDelayMs > LATE_MS || queuedWork >= 1;
    const ofAnswers = isConfirmed ? medianMs / Math.max(leastMs, 2 * this.floorMs) : 0;
    const pressure = Math.max(ofAnswers, loopDelayMs / leastMs);
    const isQueueing = pressure > 1;
    const toleratedMs = answerMs / pressure;
    // Little's law: what the clients see in flight, also if each request is answered in the turn that reads it.
    const answersPerMs = this.answers / window.lengthMs;
    this.answersPerMs = Math.max(answersPerMs, this.answersPerMs * RATE_DECAY);
    const sustainable = this.answersPerMs * (isQueueing ? toleratedMs : leastMs);
    if (this.isEnforced) this.follow(window, isQueueing ? 1 / pressure : 1, sustainable);
    else {
      if (!isQueueing) this.learnFloor(answerMs);
      const concurrency = Math.max(window.inFlight, answersPerMs * answerMs);
      this.watch(window, isQueueing && concurrency >= 2 * LEAST, sustainable);
    }
    this.latestMs = medianMs;
    this.answers = 0;
  }

  private watch({ endsAtMs, lengthMs }: Window, isQueueing: boolean, sustainable: number): void {
    if (!isQueueing) {
      this.queueingSinceMs = null;
      this.queueingWindows = 0;
      return;
    }
    this.queueingSinceMs ??= endsAtMs - lengthMs;
    this.queueingWindows += 1;
    if (endsAtMs - this.queueingSinceMs < PROOF_MS || this.queueingWindows < PROOF_WINDOWS) return;
    this.current = bounded(sustainable);
    this.sinceMs = endsAtMs;
    this.lastNeededMs = endsAtMs;
  }

  private follow({ endsAtMs, refused }: Window, gradient: number, sustainable: number): void {
    if (refused > 0 || gradient < 1) this.lastNeededMs = endsAtMs;
    // Half of the way: a window has few answers. Fewer requests than `sustainable` would not be answered sooner: the
    // machine itself is slow, or refusals take the time.
    const smaller = this.current * (0.5 + 0.5 * Math.max(0.5, gradient));
    if (gradient < 1) this.current = bounded(Math.max(smaller, Math.min(this.current, sustainable)));
    else if (refused > 0)
      this.current = bounded(this.current + Math.max(Math.sqrt(this.current), this.current / 20));
    if (endsAtMs - this.lastNeededMs < RECOVERY_MS) return;
    this.current = Number.POSITIVE_INFINITY;
    this.sinceMs = 0;
    this.queueingSinceMs = null;
    this.queueingWindows = 0;
  }

  private learnFloor(answerMs: number): void {
    if (this.answers === 0) return;
    const drifted = this.floorMs === 0 ? answerMs : this.floorMs * FLOOR_DRIFT;
    this.floorMs = Math.min(answerMs, drifted, LARGEST_FLOOR_MS);
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
