import { type Attribute, type Attributes, SPAN_KIND, type Span } from './span.js';

const STATUS_ERROR = 2;

/** The sender of the spans: the resource and the scope of OTLP. */
export interface SpanSource {
  resource: Attributes;
  name: string;
  version: string;
}

/**
 * Returns a function that writes an ExportTraceServiceRequest as JSON. Texts are joined here, because `JSON.stringify` of
 * the same objects takes twice as long. OTLP 1.10, JSON Protobuf Encoding. Names of attributes need no escapes.
 */
export function otlpJson({ resource, name, version }: SpanSource): (spans: readonly Span[]) => string {
  const scope = `{"name":${JSON.stringify(name)},"version":${JSON.stringify(version)}}`;
  const start = `{"resourceSpans":[{"resource":{"attributes":[${attributesJson(resource)}]},"scopeSpans":[{"scope":${scope},"spans":[`;
  return (spans) => `${start}${spans.map(spanJson).join(',')}]}]}]}`;
}

function spanJson(span: Span): string {
  const parent = span.parentSpanId === null ? '' : `"parentSpanId":"${span.parentSpanId}",`;
  const status = span.hasFailed ? `{"code":${STATUS_ERROR}}` : '{}';
  return (
    `{"traceId":"${span.traceId}","spanId":"${span.spanId}",${parent}"name":${JSON.stringify(span.name)},` +
    `"kind":${SPAN_KIND[span.kind]},"startTimeUnixNano":"${nanoseconds(span.startedAtMs)}",` +
    `"endTimeUnixNano":"${nanoseconds(span.endedAtMs)}","attributes":[${attributesJson(span.attributes)}],"status":${status}}`
  );
}

function attributesJson(attributes: Attributes): string {
  let json = '';
  for (const name in attributes) {
    json += `${json === '' ? '' : ','}{"key":"${name}","value":${valueJson(attributes[name] as Attribute)}}`;
  }
  return json;
}

function valueJson(value: Attribute): string {
  if (typeof value === 'string') return `{"stringValue":${JSON.stringify(value)}}`;
  if (typeof value === 'boolean') return `{"boolValue":${value}}`;
  return Number.isInteger(value) ? `{"intValue":${value}}` : `{"doubleValue":${value}}`;
}

/** The fraction is written apart, because the number has more digits than a double. */
function nanoseconds(epochMs: number): string {
  const seconds = Math.floor(epochMs / 1_000);
  const fraction = Math.floor((epochMs - seconds * 1_000) * 1e6);
  return `${seconds}${String(1e9 + fraction).slice(1)}`;
}
