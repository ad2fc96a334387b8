import { setImmediate as letRequestsIn, setTimeout as sleep } from 'node:timers/promises';
import { ExportResultCode } from '@opentelemetry/core';
import { BatchSpanProcessor, type ReadableSpan, type SpanProcessor } from '@opentelemetry/sdk-trace-base';

/** A span has at most about 3 KB, so all of them have at most 8 MB with the batch that is being sent. */
const MOST_WAITING = 2_048;
/** Writing a batch as JSON blocks the event loop for a few milliseconds. */
const BATCH = 512;
const EVERY_MS = 1_000;
/** Longer than `send` may take. */
const EXPORT_MS = 30_000;
/** The end of the process waits this long for the collector. */
const LAST_EXPORT_MS = 2_000;

/** Sends ended spans in batches, and counts them. A slow collector loses spans, and delays nothing. */
export class SpanQueue implements SpanProcessor {
  readonly counts = { exported: 0, dropped: 0 };
  private waiting = 0;
  private readonly sending = new Set<Promise<void>>();
  private readonly batches = new BatchSpanProcessor(
    {
      export: (spans, done) => {
        const sent = this.sendBatch(spans).finally(() => this.sending.delete(sent));
        this.sending.add(sent);
        // After a failure the processor would not wait for the other batches.
        sent.then(() => done({ code: ExportResultCode.SUCCESS }));
      },
      shutdown: async () => void (await Promise.all(this.sending)),
    },
    // All of its settings, so that it reads none from the environment.
    {
      maxQueueSize: MOST_WAITING,
      maxExportBatchSize: BATCH,
      scheduledDelayMillis: EVERY_MS,
      exportTimeoutMillis: EXPORT_MS,
    },
  );

  /** `send` returns whether the collector has taken the spans. */
  constructor(private readonly send: (spans: ReadableSpan[]) => Promise<boolean>) {}

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    // The processor would drop the span without counting it.
    if (this.waiting >= MOST_WAITING) {
      this.counts.dropped += 1;
      return;
    }
    this.waiting += 1;
    this.batches.onEnd(span);
  }

  forceFlush(): Promise<void> {
    return this.batches.forceFlush();
  }

  /** Sends the last spans. Resolves after 2 s at the latest. */
  async shutdown(): Promise<void> {
    await Promise.race([this.batches.shutdown(), sleep(LAST_EXPORT_MS, undefined, { ref: false })]);
  }

  private async sendBatch(spans: ReadableSpan[]): Promise<void> {
    // A request in progress does not wait for the JSON.
    await letRequestsIn();
    this.waiting -= spans.length;
    const isTaken = await this.send(spans).catch(() => false);
    this.counts[isTaken ? 'exported' : 'dropped'] += spans.length;
  }
}
