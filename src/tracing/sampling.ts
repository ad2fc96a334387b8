import { ROOT_CONTEXT, type SpanContext } from '@opentelemetry/api';
import { SamplingDecision, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace';
import type { TracingSettings } from '../config/tracing-settings.js';

const SAMPLED = 1;

/**
 * Returns whether a trace is recorded, before anything is made for it. OpenTelemetry's samplers are asked later, when a
 * span and its ids exist: that costs requests that are not recorded several percent.
 */
export function samplingRule({
  sampler,
  sampledShare,
}: Pick<TracingSettings, 'sampler' | 'sampledShare'>): (remote: SpanContext | null) => boolean {
  const [, parent, rule] = /^(parentbased_)?(.+)$/.exec(sampler) ?? [];
  const share = rule === 'traceidratio' ? sampledShare : Number(rule === 'always_on');
  // The same rule in every service, so that they record the same traces.
  const byTraceId = new TraceIdRatioBasedSampler(share);
  return (remote) => {
    // The id of a new trace is random, and so is the decision.
    if (remote === null) return Math.random() < share;
    if (parent) return (remote.traceFlags & SAMPLED) === SAMPLED;
    const { decision } = byTraceId.shouldSample(ROOT_CONTEXT, remote.traceId);
    return decision === SamplingDecision.RECORD_AND_SAMPLED;
  };
}
