import type { Span } from './span.js';

/** A span has at most about 3 KB, so all of them have at most 8 MB with the batch that is being sent. */
const MOST_WAITING = 2_048;
/** Writing a batch as JSON blocks the event loop for about a millisecond. */
const BATCH = 512;
const EVERY_MS = 1_000;

/** Sends ended spans in batches, one at a time. A slow collector loses spans, and delays nothing. */
export class SpanQueue {
  readonly counts = { exported: 0, dropped: 0 };
  private waiting: Span[] = [];
  private sending: Promise<void> | null = null;
  private readonly timer = setInterval(() => this.sendBatch(), EVERY_MS).unref();

  /** `send` returns whether the collector has taken the spans. */
  constructor(private readonly send: (spans: Span[]) => Promise<boolean>) {}

  add(span: Span): void {
    if (this.waiting.length >= MOST_WAITING) {
      this.counts.dropped += 1;
      return;
    }
    this.waiting.push(span);
    // Later, so that a request in progress does not wait for the JSON.
    if (this.waiting.length === BATCH) setImmediate(() => this.sendBatch());
  }

  /** Resolves when every span that waits now was sent or dropped. */
  async flush(): Promise<void> {
    while (this.waiting.length > 0 || this.sending) {
      this.sendBatch();
      await this.sending;
    }
  }

  /** Drops the spans that still wait. */
  close(): void {
    clearInterval(this.timer);
    this.counts.dropped += this.waiting.length;
    this.waiting = [];
  }

  private sendBatch(): void {
    if (this.sending || this.waiting.length === 0) return;
    const batch = this.waiting.splice(0, BATCH);
    this.sending = this.send(batch)
      .catch(() => false)
      .then((isTaken) => {
        this.counts[isTaken ? 'exported' : 'dropped'] += batch.length;
        this.sending = null;
        if (this.waiting.length >= BATCH) setImmediate(() => this.sendBatch());
      });
  }
}
