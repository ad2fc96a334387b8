import { type SpanContext, TraceFlags } from '@opentelemetry/api';
import { parseTraceParent } from '@opentelemetry/core';
import type { TracingSettings } from '../../ground/config/tracing-settings.js';

/** The ids are parts of the header, so the spans that wait keep the whole header in memory. */
const MOST_CHARACTERS = 200;

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
    return parent ? (remote.traceFlags & TraceFlags.SAMPLED) !== 0 : isInShare(remote.traceId, share);
  };
}

/** By the last 64 bits, as in OpenTelemetry for Go, Python and .NET, so that all services record the same traces. */
function isInShare(traceId: string, share: number): boolean {
  return Number.parseInt(traceId.slice(16), 16) < share * 2 ** 64;
}
