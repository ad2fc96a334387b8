import type { Caller } from '../caller.js';

/** Shorter than the second within which a revoked key or a changed plan must count in every process. */
const LIFETIME_MS = 800;
/** A key that is asked for later is looked up anew, and nobody waits for it. */
const RENEWAL_MS = 400;
const MAX_ENTRIES = 20_000;

export interface KnownKey {
  caller: Caller;
  expiresAtMs: number | null;
}

interface LookUp {
  /** From which the age of the answer counts. */
  startedAtMs: number;
  /** A promise while it runs, and for good when it failed. */
  answer: KnownKey | null | Promise<KnownKey | null>;
  hasFailed: boolean;
  /** The one begun ahead of time. */
  next: LookUp | null;
}

/** Remembers for less than a second whose key a digest is: a busy key costs two or three queries a second, and mostly waits for none. */
export class CallerCache {
  private readonly known = new Map<string, LookUp>();

  constructor(
    private readonly lookUp: (digest: string) => Promise<KnownKey | null>,
    private readonly now: () => number,
  ) {}

  /** Requests that arrive while the look-up runs share it. Rejects with what it rejects with. */
  find(digest: string): LookUp['answer'] {
    const latest = this.known.get(digest) ?? null;
    const current = this.currentOf(latest) ?? this.begin(digest);
    if (current !== latest) this.keep(digest, current);
    const isInForce = current.answer !== null && !(current.answer instanceof Promise);
    if (isInForce && !current.next && this.ageMs(current) >= RENEWAL_MS) current.next = this.begin(digest);
    return current.answer;
  }

  clear(): void {
    this.known.clear();
  }

  /** The newest that has its answer, else one that runs; null when there is none that may be believed. */
  private currentOf(lookUp: LookUp | null): LookUp | null {
    if (!lookUp) return null;
    const next = this.currentOf(lookUp.next);
    if (next && !(next.answer instanceof Promise)) return next;
    return this.mayBeBelieved(lookUp) ? lookUp : next;
  }

  private mayBeBelieved(lookUp: LookUp): boolean {
    const ageMs = this.ageMs(lookUp);
    // A clock that was set back by an hour must not keep a revoked key in force for an hour.
    return !lookUp.hasFailed && ageMs >= 0 && ageMs < LIFETIME_MS;
  }

  private ageMs({ startedAtMs }: LookUp): number {
    return this.now() - startedAtMs;
  }

  private begin(digest: string): LookUp {
    const startedAtMs = this.now();
    const answer = this.lookUp(digest);
    const lookUp: LookUp = { startedAtMs, answer, hasFailed: false, next: null };
    answer.then(
      (key) => {
        lookUp.answer = key;
      },
      () => {
        lookUp.hasFailed = true;
      },
    );
    return lookUp;
  }

  /** What was kept first is forgotten first. */
  private keep(digest: string, lookUp: LookUp): void {
    this.known.delete(digest);
    this.known.set(digest, lookUp);
    if (this.known.size > MAX_ENTRIES) this.known.delete(this.known.keys().next().value as string);
  }
}
