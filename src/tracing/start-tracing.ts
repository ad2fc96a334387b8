import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { AlwaysOnSampler, TracerProvider } from '@opentelemetry/sdk-trace';
import type { TracingSettings } from '../config/tracing-settings.js';
import { otlpExport } from './otlp-export.js';
import { samplingRule } from './sampling.js';
import { SpanQueue } from './span-queue.js';
import { networkTest } from './trace-parent.js';
import { Tracer } from './tracer.js';

/** The end of the process waits this long for the collector. */
const LAST_EXPORT_MS = 2_000;
/** A span then has at most about 3 KB. */
const SPAN_LIMITS = {
  attributeValueLengthLimit: 200,
  attributeCountLimit: 16,
  eventCountLimit: 0,
  linkCountLimit: 0,
};

interface TracedProcess {
  settings: TracingSettings;
  version: string;
  environment: string;
  trustedProxies: readonly string[];
}

export interface Tracing {
  readonly tracer: Tracer;
  /** Whether the `traceparent` of a connection from this address is believed. */
  isTrusted(address: string | undefined): boolean;
  readonly counts: { readonly exported: number; readonly dropped: number };
  /** Sends the last spans. Resolves after 2 s at the latest. */
  close(): Promise<void>;
}

/** Starts to send spans to the collector. Nothing is global: several apps can trace in one process. */
export function startTracing({ settings, version, environment, trustedProxies }: TracedProcess): Tracing {
  const { tracesUrl: url, headers } = settings;
  const queue = new SpanQueue(otlpExport({ url, headers }));
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.version': version,
      'service.instance.id': randomUUID(),
      'deployment.environment.name': environment,
      ...settings.resourceAttributes,
      'service.name': settings.serviceName,
    }),
    // `samplingRule` has decided before a span is made.
    sampler: new AlwaysOnSampler(),
    spanLimits: SPAN_LIMITS,
    spanProcessors: [queue],
  });
  return {
    tracer: new Tracer(provider.getTracer('petstore-gateway', version), samplingRule(settings)),
    isTrusted: networkTest(trustedProxies),
    counts: queue.counts,
    async close() {
      await Promise.race([queue.forceFlush(), sleep(LAST_EXPORT_MS, undefined, { ref: false })]);
      await provider.shutdown();
    },
  };
}
