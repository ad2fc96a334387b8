import type { Caller } from '../caller.js';

/** Shorter than the second within which a revoked key or a changed plan must count in every process. */
const LIFETIME_MS = 800;
const MAX_ENTRIES = 20_000;

export interface KnownKey {
  caller: Caller;
  expiresAtMs: number | null;
}

type Answer = KnownKey | null | Promise<KnownKey | null>;

interface Entry {
  startedAtMs: number;
  /** A promise while the look-up runs. */
  answer: Answer;
}

/** Remembers for less than a second whose key a digest is, so that a busy key costs about one query a second. */
export class CallerCache {
  private readonly entries = new Map<string, Entry>();

  constructor(private readonly now: () => number) {}

  /** What is known of a digest; undefined = it must be looked up. */
  find(digest: string): Answer | undefined {
    const known = this.entries.get(digest);
    return known && this.now() - known.startedAtMs < LIFETIME_MS ? known.answer : undefined;
  }

  /** Requests that arrive while the look-up runs share it; its age counts from its start. */
  load(digest: string, lookUp: () => Promise<KnownKey | null>): Promise<KnownKey | null> {
    const answer = lookUp();
    const entry: Entry = { startedAtMs: this.now(), answer };
    answer.then(
      (key) => {
        entry.answer = key;
      },
      () => {
        if (this.entries.get(digest) === entry) this.entries.delete(digest);
      },
    );
    // Deleted first, so that the oldest look-up is always the first of the map and the one evicted.
    this.entries.delete(digest);
    this.entries.set(digest, entry);
    if (this.entries.size > MAX_ENTRIES) this.entries.delete(this.entries.keys().next().value as string);
    return answer;
  }

  clear(): void {
    this.entries.clear();
  }
}
