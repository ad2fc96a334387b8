import http from 'node:http';
import https from 'node:https';
import { ExportResultCode } from '@opentelemetry/core';
import { OTLPExporterBase } from '@opentelemetry/otlp-exporter-base';
import { createOtlpHttpExportDelegate } from '@opentelemetry/otlp-exporter-base/node-http';
import { JsonTraceSerializer, TraceExporterMetricsHelper } from '@opentelemetry/otlp-transformer';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import type { TracingSettings } from '../../ground/config/tracing-settings.js';

/** OpenTelemetry's exporter repeats temporary refusals within this time. */
const EXPORT_MS = 5_000;
const DEADLINE_MS = 6_000;
const AT_ONCE = 8;

/** Returns a function that sends spans as OTLP in JSON, and returns within 6 s whether the collector has taken them. D-205. */
export function spanSender(settings: TracingSettings): (spans: ReadableSpan[]) => Promise<boolean> {
  let connection = connect(settings);
  return (spans) =>
    new Promise((resolve) => {
      const used = connection;
      // The exporter waits without end for a response byte by byte, and after `101 Switching Protocols`, about which Node
      // reports nothing. It takes no further spans when several such exports are open.
      const timer = setTimeout(() => {
        used.agent.destroy();
        if (used === connection) connection = connect(settings);
        resolve(false);
      }, DEADLINE_MS).unref();
      used.exporter.export(spans, ({ code }) => {
        clearTimeout(timer);
        resolve(code === ExportResultCode.SUCCESS);
      });
    });
}

function connect({ tracesUrl: url, headers }: TracingSettings) {
  const agent = new (url.startsWith('https:') ? https : http).Agent({ keepAlive: true });
  // `OTLPTraceExporter` also parses the response, which may have 4 MB, and reads further settings from the environment.
  const delegate = createOtlpHttpExportDelegate(
    {
      url,
      headers: async () => ({ ...headers, 'Content-Type': 'application/json' }),
      timeoutMillis: EXPORT_MS,
      concurrencyLimit: AT_ONCE,
      compression: 'none',
      agentFactory: () => agent,
    },
    { serializeRequest: JsonTraceSerializer.serializeRequest, deserializeResponse: () => ({}) },
    'otlp_http_json_span_exporter',
    TraceExporterMetricsHelper,
    undefined,
  );
  return { agent, exporter: new OTLPExporterBase(delegate) };
}
