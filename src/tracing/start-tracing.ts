import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TracingSettings } from '../config/tracing-settings.js';
import { networkTest } from '../kernel/networks.js';
import { otlpExport } from './otlp-export.js';
import { otlpJson } from './otlp-json.js';
import { samplingRule } from './sampling.js';
import { SpanQueue } from './span-queue.js';
import { type RemoteSpan, readTraceParent } from './trace-parent.js';
import { Tracer } from './tracer.js';

/** The end of the process waits this long for the collector. */
const LAST_EXPORT_MS = 2_000;

interface TracedProcess {
  settings: TracingSettings;
  version: string;
  environment: string;
  trustedProxies: readonly string[];
  now: () => number;
}

export interface Tracing {
  readonly tracer: Tracer;
  /** The client's span; null without a valid `traceparent` of a trusted proxy. */
  remoteSpanOf(request: IncomingMessage): RemoteSpan | null;
  readonly counts: { readonly exported: number; readonly dropped: number };
  /** Sends the last spans. Resolves after 2 s at the latest. */
  close(): Promise<void>;
}

/** Starts to send spans to the collector. Nothing is global: several apps can trace in one process. */
export function startTracing({
  settings,
  version,
  environment,
  trustedProxies,
  now,
}: TracedProcess): Tracing {
  const { tracesUrl: url, headers } = settings;
  const resource = {
    'service.version': version,
    'service.instance.id': randomUUID(),
    'deployment.environment.name': environment,
    ...settings.resourceAttributes,
    'service.name': settings.serviceName,
  };
  const write = otlpJson({ resource, name: 'petstore-gateway', version });
  const isTrusted = networkTest(trustedProxies);
  const send = otlpExport({ url, headers });
  const queue = new SpanQueue(async (spans) => send(write(spans)));
  return {
    tracer: new Tracer((span) => queue.add(span), samplingRule(settings), now),
    remoteSpanOf: ({ headers, socket }) =>
      headers.traceparent !== undefined && isTrusted(socket) ? readTraceParent(headers.traceparent) : null,
    counts: queue.counts,
    async close() {
      await Promise.race([queue.flush(), sleep(LAST_EXPORT_MS, undefined, { ref: false })]);
      queue.close();
    },
  };
}
