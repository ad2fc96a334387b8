import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { SpanContext } from '@opentelemetry/api';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { AlwaysOnSampler, BasicTracerProvider } from '@opentelemetry/sdk-trace-base';
import type { TracingSettings } from '../../ground/config/tracing-settings.js';
import { networkTest } from '../../ground/kernel/networks.js';
import { spanSender } from './collector.js';
import { readTraceParent, samplingRule } from './sampling.js';
import { SpanQueue } from './span-queue.js';
import { Tracer } from './tracer.js';

/** With this limit a span has at most about 3 KB. */
const MOST_CHARACTERS = 200;

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
  remoteSpanOf(request: IncomingMessage): SpanContext | null;
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
  const queue = new SpanQueue(spanSender(settings));
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({
      'service.version': version,
      'service.instance.id': randomUUID(),
      'deployment.environment.name': environment,
      ...settings.resourceAttributes,
      'service.name': settings.serviceName,
    }),
    // `samplingRule` has decided before.
    sampler: new AlwaysOnSampler(),
    spanLimits: { attributeValueLengthLimit: MOST_CHARACTERS, attributeCountLimit: 128 },
    spanProcessors: [queue],
  });
  const isTrusted = networkTest(trustedProxies);
  return {
    tracer: new Tracer(provider.getTracer('petstore-gateway', version), samplingRule(settings), now),
    remoteSpanOf: ({ headers, socket }) =>
      headers.traceparent !== undefined && isTrusted(socket) ? readTraceParent(headers.traceparent) : null,
    counts: queue.counts,
    close: () => queue.shutdown(),
  };
}
