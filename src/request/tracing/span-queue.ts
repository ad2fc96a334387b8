import { setImmediate as letRequestsIn, setTimeout as sleep } from 'node:timers/promises';
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { TracingSettings } from '../../ground/config/tracing-settings.js';

/** A span has at most about 3 KB, so all of them have at most 8 MB with the batch that is being sent. */
const MOST_WAITING = 2_048;
/** Writing a batch as JSON blocks the event loop for a few milliseconds. */
const BATCH = 512;
const EVERY_MS = 1_000;
/** Of an export with its repetitions. */
const EXPORT_MS = 6_000;
const REPEAT_MS = 1_000;
const MOST_RESPONSE_BYTES = 4 * 1024 * 1024;
/** The end of the process waits this long for the collector. */
const LAST_EXPORT_MS = 2_000;
/** The statuses after which OTLP repeats an export. A collector out of reach counts as the last one. */
const TEMPORARY = [429, 502, 503, 504];

/** Sends ended spans in batches, as OTLP in JSON, and counts them. A slow collector loses spans, and delays nothing. D-205. */
export class SpanQueue implements SpanProcessor {
  readonly counts = { exported: 0, dropped: 0 };
  private readonly waiting: ReadableSpan[] = [];
  private sending: Promise<void> | null = null;
  private readonly timer = setInterval(() => this.sendWaiting(), EVERY_MS).unref();

  constructor(private readonly collector: Pick<TracingSettings, 'tracesUrl' | 'headers'>) {}

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    if (this.waiting.length >= MOST_WAITING) {
      this.counts.dropped += 1;
      return;
    }
    this.waiting.push(span);
    if (this.waiting.length >= BATCH) this.sendWaiting();
  }

  async forceFlush(): Promise<void> {
    const batches = Math.ceil(this.waiting.length / BATCH);
    await Promise.all([this.sending, ...Array.from({ length: batches }, () => this.sendBatch())]);
  }

  /** Sends the last spans. Resolves after 2 s at the latest. */
  async shutdown(): Promise<void> {
    clearInterval(this.timer);
    await Promise.race([this.forceFlush(), sleep(LAST_EXPORT_MS, undefined, { ref: false })]);
  }

  /** The collector gets a batch when it has answered the one before. */
  private sendWaiting(): void {
    if (this.sending || this.waiting.length === 0) return;
    this.sending = this.sendBatch().finally(() => {
      this.sending = null;
      if (this.waiting.length >= BATCH) this.sendWaiting();
    });
  }

  private async sendBatch(): Promise<void> {
    // A request in progress does not wait for the JSON.
    await letRequestsIn();
    const spans = this.waiting.splice(0, BATCH);
    const isTaken = await this.export(spans);
    this.counts[isTaken ? 'exported' : 'dropped'] += spans.length;
  }

  private async export(spans: ReadableSpan[]): Promise<boolean> {
    const body = JsonTraceSerializer.serializeRequest(spans) as Uint8Array<ArrayBuffer>;
    const signal = AbortSignal.timeout(EXPORT_MS);
    while (!signal.aborted) {
      const status = await this.post(body, signal).catch(() => 504);
      if (!TEMPORARY.includes(status)) return status < 300;
      await sleep(REPEAT_MS, undefined, { ref: false });
    }
    return false;
  }

  /** Returns the status; 500 instead of a response that is too long. */
  private async post(body: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<number> {
    const { tracesUrl, headers } = this.collector;
    const request = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body };
    const response = await fetch(tracesUrl, { ...request, redirect: 'manual', signal });
    let bytes = 0;
    for await (const part of response.body ?? []) {
      bytes += part.length;
      if (bytes > MOST_RESPONSE_BYTES) return 500;
    }
    return response.status;
  }
}
