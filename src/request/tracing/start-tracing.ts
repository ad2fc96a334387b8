import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type SpanContext, TraceFlags } from '@opentelemetry/api';
import { parseTraceParent } from '@opentelemetry/core';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { AlwaysOnSampler, BasicTracerProvider } from '@opentelemetry/sdk-trace-base';
import type { TracingSettings } from '../../ground/config/tracing-settings.js';
import { networkTest } from '../../ground/kernel/networks.js';
import { SpanQueue } from './span-queue.js';
import { Tracer } from './tracer.js';

/**
 * Of an attribute and of a `traceparent`: a span has at most about 3 KB. The ids are parts of the header, and keep the
 * whole header in memory.
 */
const MOST_CHARACTERS = 200;

interface TracedProcess {
  settings: TracingSettings;
  /** Of the gateway. */
  slug: string;
  version: string;
  environment: string;
  trustedProxies: readonly string[];
  now: () => number;
}

export type Tracing = ReturnType<typeof startTracing>;

/** Starts to send spans to the collector. Nothing is global: several apps can trace in one process. */
export function startTracing({ settings, slug, version, environment, trustedProxies, now }: TracedProcess) {
  const queue = new SpanQueue(settings);
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({
      'service.version': version,
      'service.instance.id': randomUUID(),
      'deployment.environment.name': environment,
      ...settings.resourceAttributes,
      'service.name': settings.serviceName ?? `${slug}-gateway`,
    }),
    // `samplingRule` has decided before.
    sampler: new AlwaysOnSampler(),
    spanLimits: { attributeValueLengthLimit: MOST_CHARACTERS, attributeCountLimit: 128 },
    spanProcessors: [queue],
  });
  const isTrusted = networkTest(trustedProxies);
  return {
    tracer: new Tracer(provider.getTracer('petstore-gateway', version), samplingRule(settings), now, slug),
    /** The client's span; null without a valid `traceparent` of a trusted proxy. */
    remoteSpanOf: ({ headers, socket }: IncomingMessage) =>
      headers.traceparent !== undefined && isTrusted(socket) ? readTraceParent(headers.traceparent) : null,
    counts: queue.counts,
    /** Sends the last spans. Resolves after 2 s at the latest. */
    close: () => queue.shutdown(),
  };
}

/** The client's span, which a `traceparent` header names; null = the header is missing, malformed or too long. */
export function readTraceParent(header: string | string[] | undefined): SpanContext | null {
  if (typeof header !== 'string' || header.length > MOST_CHARACTERS) return null;
  return parseTraceParent(header);
}

/** Returns whether a trace is recorded; null = the request begins one. It decides before a span is made. D-143. */
export function samplingRule({
  sampler,
  sampledShare,
}: Pick<TracingSettings, 'sampler' | 'sampledShare'>): (remote: SpanContext | null) => boolean {
  const [, parent, rule] = /^(parentbased_)?(.+)$/.exec(sampler) ?? [];
  const share = rule === 'traceidratio' ? sampledShare : Number(rule === 'always_on');
  return (remote) => {
    // The id of a new trace is random, and so is the decision.
    if (remote === null) return Math.random() < share;
    if (parent) return (remote.traceFlags & TraceFlags.SAMPLED) !== 0;
    // By the last 64 bits, as in OpenTelemetry for Go, Python and .NET, so that all services record the same traces.
    return Number.parseInt(remote.traceId.slice(16), 16) < share * 2 ** 64;
  };
}
