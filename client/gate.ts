import { type ApiError, WaitTooLong } from './errors.js';
import { type Clock, onAbort } from './pause.js';

/** How long a call may wait in all. The time counts from its first wait. */
export interface Patience {
  readonly forMs: number;
  untilMs?: number;
}

interface Waiter {
  readonly patience: Patience;
  enter(): void;
  fail(error: Error): void;
}

/** More at once would only queue in front of the gateway, which then refuses some. */
const MOST_AT_ONCE = 32;

/**
 * Lets the calls of a client through as fast as the quota allows, in the order in which they came. Each answer says what
 * remains; what would exceed it waits for the next window, as everything does between a 429 and its Retry-After. So a
 * client is hardly ever refused, and never has a strike. D-277.
 */
export class Gate {
  private readonly waiting: Waiter[] = [];
  private inFlight = 0;
  /** By the newest answer; undefined = not known, so one request goes ahead and asks. */
  private remaining: number | undefined;
  /** When the quota is free again, while nothing remains. */
  private freeAtMs = 0;
  /** The 429 that closed the gate. */
  private refusal: ApiError | undefined;
  /** Counts answers. A request that was sent after an answer knows more than it. */
  private answers = 0;
  private cancelTimer = () => {};

  constructor(private readonly clock: Clock) {}

  /** Resolves when the request may be sent, with its ticket for `leave`. `isRepeat` is for a call that was inside before. */
  async enter(patience: Patience, signal: AbortSignal | undefined, isRepeat: boolean): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      const settle = (end: () => void) => {
        unwatch();
        const at = this.waiting.indexOf(waiter);
        if (at >= 0) this.waiting.splice(at, 1);
        end();
      };
      const waiter: Waiter = {
        patience,
        enter: () => settle(resolve),
        fail: (error) => settle(() => reject(error)),
      };
      let unwatch = () => {};
      if (isRepeat) this.waiting.unshift(waiter);
      else this.waiting.push(waiter);
      unwatch = onAbort(signal, (reason) => waiter.fail(reason as Error));
      this.move();
    });
    return this.answers;
  }

  /** Ends what `enter` began. Without headers no answer came. */
  leave(ticket: number, headers: Headers | undefined, refusal: ApiError | undefined): void {
    this.inFlight -= 1;
    if (headers) this.note(ticket, headers, refusal);
    // It may have been charged.
    else if (this.remaining) this.remaining -= 1;
    this.move();
  }

  /** Reads the quota from the answer to a request that costs none and so did not wait here: it may open the gate. */
  look(ticket: number, headers: Headers): void {
    this.note(ticket, headers, undefined);
    this.move();
  }

  private note(ticket: number, headers: Headers, refusal: ApiError | undefined): void {
    const nowMs = this.clock.now();
    const left = refusal ? 0 : Number(headers.get('x-ratelimit-remaining') ?? Number.POSITIVE_INFINITY);
    // Answers of parallel requests overtake each other, and within a window what remains only falls.
    const isNewest = ticket === this.answers;
    this.remaining = isNewest ? left : Math.min(this.remaining ?? left, left);
    this.answers += 1;
    if (left === 0) {
      const seconds = refusal ? (refusal.retryAfterSeconds ?? 1) : spentFor(headers.get('ratelimit') ?? '');
      this.freeAtMs = Math.max(this.freeAtMs, nowMs + seconds * 1000);
      this.refusal = refusal ?? this.refusal;
    }
  }

  /** The ticket of a request that does not wait here. */
  get ticket(): number {
    return this.answers;
  }

  /** Lets in who may enter, refuses who would wait too long, and comes back when the quota is free. */
  private move(): void {
    const nowMs = this.clock.now();
    if (this.remaining === 0 && nowMs >= this.freeAtMs) this.remaining = undefined;
    if (this.remaining !== 0) this.refusal = undefined;
    while (this.waiting[0] && this.hasRoom()) this.admit(this.waiting[0]);
    this.cancelTimer();
    if (this.remaining !== 0 || this.waiting.length === 0) return;
    for (const waiter of [...this.waiting]) {
      waiter.patience.untilMs ??= nowMs + waiter.patience.forMs;
      if (waiter.patience.untilMs >= this.freeAtMs) continue;
      if (this.refusal) waiter.fail(new WaitTooLong(this.refusal, new Date(this.freeAtMs)));
      // Only the gateway knows the reason: its refusal of this one request says it to all.
      else if (this.inFlight === 0) this.admit(waiter);
    }
    this.cancelTimer = this.clock.after(this.freeAtMs - nowMs, () => this.move());
  }

  private hasRoom(): boolean {
    // Others may use the same quota: near its end fewer at once, so that few are refused.
    const most = this.remaining === undefined ? 1 : Math.ceil(this.remaining / 2);
    return this.inFlight < Math.min(most, MOST_AT_ONCE);
  }

  private admit(waiter: Waiter): void {
    this.inFlight += 1;
    waiter.enter();
  }
}

/** The seconds until no window is spent. Counted by the gateway: the clock of this machine may differ from its. */
function spentFor(rateLimit: string): number {
  const resets = [...rateLimit.matchAll(/;r=0;t=(\d+)/g)].map(([, seconds]) => Number(seconds));
  return Math.max(0, ...resets);
}
