import type { Caller } from '../caller.js';

/** Shorter than the second within which a revoked key or a changed plan must count in every process. */
const LIFETIME_MS = 800;
/** Who asks later has it looked up anew, without waiting for it. */
const RENEWAL_MS = 400;
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
  isRenewed: boolean;
}

/** Remembers for less than a second whose key a digest is: a busy key costs about two queries a second, and waits for none. */
export class CallerCache {
  private readonly entries = new Map<string, Entry>();

  constructor(
    private readonly lookUp: (digest: string) => Promise<KnownKey | null>,
    private readonly now: () => number,
  ) {}

  /** Requests that arrive while the look-up runs share it. Rejects with what it rejects with. */
  find(digest: string): Answer {
    const entry = this.entries.get(digest);
    const ageMs = entry ? this.now() - entry.startedAtMs : 0;
    // A clock that was set back makes nothing young again.
    if (!entry || ageMs < 0 || ageMs >= LIFETIME_MS) return this.load(digest);
    if (ageMs >= RENEWAL_MS && !entry.isRenewed && !(entry.answer instanceof Promise)) {
      this.renew(digest, entry);
    }
    return entry.answer;
  }

  clear(): void {
    this.entries.clear();
  }

  private load(digest: string): Promise<KnownKey | null> {
    const startedAtMs = this.now();
    const answer = this.lookUp(digest);
    const entry: Entry = { startedAtMs, answer, isRenewed: false };
    answer.then(
      (key) => {
        entry.answer = key;
      },
      () => {
        if (this.entries.get(digest) === entry) this.entries.delete(digest);
      },
    );
    this.keep(digest, entry);
    return answer;
  }

  /** When it fails, who asks after the entry's time is told why. */
  private renew(digest: string, entry: Entry): void {
    entry.isRenewed = true;
    const startedAtMs = this.now();
    const replace = (answer: KnownKey | null) => {
      // Not what was forgotten meanwhile.
      if (this.entries.get(digest) === entry) this.keep(digest, { startedAtMs, answer, isRenewed: false });
    };
    this.lookUp(digest).then(replace, () => {});
  }

  /** Deleted first, so that the oldest look-up is always the first of the map and the one evicted. */
  private keep(digest: string, entry: Entry): void {
    this.entries.delete(digest);
    this.entries.set(digest, entry);
    if (this.entries.size > MAX_ENTRIES) this.entries.delete(this.entries.keys().next().value as string);
  }
}
