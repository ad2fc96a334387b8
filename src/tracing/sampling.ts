import type { TracingSettings } from '../config/tracing-settings.js';
import type { RemoteSpan } from './trace-parent.js';

/** Returns whether a trace is recorded; null = the request begins one. It decides before a span is made. */
export function samplingRule({
  sampler,
  sampledShare,
}: Pick<TracingSettings, 'sampler' | 'sampledShare'>): (remote: RemoteSpan | null) => boolean {
  const [, parent, rule] = /^(parentbased_)?(.+)$/.exec(sampler) ?? [];
  const share = rule === 'traceidratio' ? sampledShare : Number(rule === 'always_on');
  return (remote) => {
    // The id of a new trace is random, and so is the decision.
    if (remote === null) return Math.random() < share;
    return parent ? remote.isRecorded : isInShare(remote.traceId, share);
  };
}

/** By the last 64 bits, as in OpenTelemetry for Go, Python and .NET, so that all services record the same traces. */
function isInShare(traceId: string, share: number): boolean {
  return Number.parseInt(traceId.slice(16), 16) < share * 2 ** 64;
}
