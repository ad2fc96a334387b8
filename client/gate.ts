import { ApiError, WaitTooLong } from './errors.js';
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

const MOST_GATES = 1_000;
const GATES = new WeakMap<Clock, Map<string, Gate>>();

/** The gate of this address and key. A page may make many clients, and they share one quota. */
export function gateOf(clock: Clock, name: string): Gate {
  const gates = GATES.get(clock) ?? new Map<string, Gate>();
  GATES.set(clock, gates);
  const gate = gates.get(name) ?? new Gate(clock);
  // The oldest is forgotten: its clients keep it, and a new client gets another one.
  const [oldest = name] = gates.keys();
  if (gates.size >= MOST_GATES && !gates.has(name)) gates.delete(oldest);
  gates.set(name, gate);
  return gate;
}

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
  /** Why nothing remains: the 429, or what it would have been. */
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
        // A timer keeps a program alive.
        if (this.waiting.length === 0) this.cancelTimer();
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
    // It may have been charged. Without any answer the others must not wait behind a dead connection.
    else this.remaining = Math.max(0, (this.remaining ?? Number.POSITIVE_INFINITY) - 1);
    this.move();
  }

  /** Reads the quota from the answer to a request that costs none and so did not wait here: it may open the gate. */
  look(ticket: number, headers: Headers): void {
    this.note(ticket, headers, undefined);
    this.move();
  }

  private note(ticket: number, headers: Headers, refusal: ApiError | undefined): void {
    const nowMs = this.clock.now();
    const left = refusal ? 0 : remainingIn(headers);
    // Answers of parallel requests overtake each other, and within a window what remains only falls.
    const isNewest = ticket === this.answers;
    this.remaining = isNewest ? left : Math.min(this.remaining ?? left, left);
    this.answers += 1;
    if (left > 0) {
      if (isNewest) this.freeAtMs = 0;
      return;
    }
    const known = refusal ?? spent(headers);
    const freeAtMs = nowMs + (known.retryAfterSeconds ?? 1) * 1000;
    // The refusal that ends later is the one to show.
    if (this.refusal === undefined || freeAtMs >= this.freeAtMs) this.refusal = known;
    this.freeAtMs = Math.max(this.freeAtMs, freeAtMs);
  }

  /** The ticket of a request that does not wait here. */
  get ticket(): number {
    return this.answers;
  }

  /** Lets in who may enter, refuses who would wait too long, and comes back when the quota is free. */
  private move(): void {
    const nowMs = this.clock.now();
    if (this.remaining === 0 && nowMs >= this.freeAtMs) this.remaining = undefined;
    while (this.waiting[0] && this.hasRoom()) this.admit(this.waiting[0]);
    this.cancelTimer();
    if (this.remaining !== 0 || this.waiting.length === 0 || !this.refusal) return;
    const until = new Date(this.freeAtMs);
    for (const waiter of [...this.waiting]) {
      waiter.patience.untilMs ??= nowMs + waiter.patience.forMs;
      if (waiter.patience.untilMs < this.freeAtMs) waiter.fail(new WaitTooLong(this.refusal, until, nowMs));
    }
    // All may have failed: a timer keeps a program alive.
    if (this.waiting.length > 0)
      this.cancelTimer = this.clock.after(this.freeAtMs - nowMs, () => this.move());
  }

  private hasRoom(): boolean {
    // Other programs may use the same quota. Near its end the client sends fewer at once, so that few are refused.
    const most = this.remaining === undefined ? 1 : Math.ceil(this.remaining / 4);
    return this.inFlight < Math.min(most, MOST_AT_ONCE);
  }

  private admit(waiter: Waiter): void {
    this.inFlight += 1;
    waiter.enter();
  }
}

function remainingIn(headers: Headers): number {
  const left = headers.get('x-ratelimit-remaining') ?? '';
  return /^\d+$/.test(left) ? Number(left) : Number.POSITIVE_INFINITY;
}

/** Seconds, counted by the gateway: the clock of this machine may differ from its. Both windows may be spent. */
function spentWindows(headers: Headers): { name: string; seconds: number }[] {
  return [...(headers.get('ratelimit') ?? '').matchAll(/"(\w+)";r=0;t=(\d+)/g)]
    .map(([, name = '', seconds]) => ({ name, seconds: Number(seconds) }))
    .sort((one, other) => other.seconds - one.seconds);
}

/** The refusal that the next request would get. */
function spent(headers: Headers): ApiError {
  const [{ name, seconds } = { name: 'minute', seconds: 0 }] = spentWindows(headers);
  return new ApiError({
    code: `rate_limited_${name}`,
    status: 429,
    message: `The quota of the ${name} is spent.`,
    retryAfterSeconds: seconds,
  });
}
