import type { Caller } from '../caller.js';

/** Shorter than the second within which a revoked key or a changed plan must count in every process. */
const LIFETIME_MS = 800;
const MAX_ENTRIES = 20_000;

export interface KnownKey {
  caller: Caller;
  expiresAtMs: number | null;
}

interface Entry {
  startedAtMs: number;
  answer: Promise<KnownKey | null>;
}

/** Remembers for less than a second whose key a digest is, so that a busy key costs about one query a second. */
export class CallerCache {
  private readonly entries = new Map<string, Entry>();

  constructor(private readonly now: () => number) {}

  /** Requests that arrive while the look-up runs share it; its age counts from its start. */
  get(digest: string, load: () => Promise<KnownKey | null>): Promise<KnownKey | null> {
    const known = this.entries.get(digest);
    if (known && this.now() - known.startedAtMs < LIFETIME_MS) return known.answer;

    const entry: Entry = { startedAtMs: this.now(), answer: load() };
    entry.answer.catch(() => {
      if (this.entries.get(digest) === entry) this.entries.delete(digest);
    });
    // Deleted first, so that the oldest look-up is always the first of the map and the one evicted.
    this.entries.delete(digest);
    this.entries.set(digest, entry);
    if (this.entries.size > MAX_ENTRIES) this.entries.delete(this.entries.keys().next().value as string);
    return entry.answer;
  }

  clear(): void {
    this.entries.clear();
  }
}
