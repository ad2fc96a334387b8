import { expect, test } from '@jest/globals';
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import { otlpJson } from '../../src/tracing/otlp-json.js';
import { Span } from '../../src/tracing/span.js';

type OfficialSpan = Parameters<typeof JsonTraceSerializer.serializeRequest>[0][number];

const RESOURCE = { 'service.name': 'shop "7"', 'service.version': '1.0.0' };
/** The serializer groups spans by this object. */
const OFFICIAL_RESOURCE = { attributes: RESOURCE };
const EPOCH_MS = Date.now() - performance.now();
const SCOPE = { name: 'petstore-gateway', version: '1.0.0' };
const REMOTE = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };

function recorded(): Span[] {
  const ended: Span[] = [];
  const record = (span: Span) => ended.push(span);
  const server = new Span(
    { name: 'GET /v1/pets/{id}', kind: 'server', parent: REMOTE, epochMs: EPOCH_MS },
    record,
  );
  server
    .set('http.response.status_code', 200)
    .set('server.address', 'pets\u0000"\\\n\ud83d\ude00\ud800.test');
  const statement = new Span(
    { name: 'SELECT pets', kind: 'client', parent: server, epochMs: EPOCH_MS },
    record,
  );
  statement.set('is_cached', false).set('share', 0.25).set('empty', '');
  statement.fail({ code: 'ER_LOCK_DEADLOCK' }).end();
  server.end();
  const root = new Span({ name: 'ACME order', kind: 'internal', parent: null, epochMs: EPOCH_MS }, record);
  root.end();
  return ended;
}

/** The span as OpenTelemetry's SDK holds it. */
function official(span: Span): OfficialSpan {
  const time = (epochMs: number) => {
    const seconds = Math.floor(epochMs / 1_000);
    return [seconds, Math.floor((epochMs - seconds * 1_000) * 1e6)];
  };
  const { traceId, spanId, parentSpanId } = span;
  return {
    name: span.name,
    kind: ['internal', 'server', 'client'].indexOf(span.kind),
    spanContext: () => ({ traceId, spanId, traceFlags: 1 }),
    parentSpanContext: parentSpanId === null ? undefined : { traceId, spanId: parentSpanId, traceFlags: 1 },
    startTime: time(span.startedAtMs),
    endTime: time(span.endedAtMs),
    status: { code: span.hasFailed ? 2 : 0 },
    attributes: span.attributes,
    events: [],
    links: [],
    resource: OFFICIAL_RESOURCE,
    instrumentationScope: SCOPE,
  } as unknown as OfficialSpan;
}

test("Tracing-18: OpenTelemetry's own serializer writes the same fields for the same spans", () => {
  const spans = recorded();
  const written = JSON.parse(otlpJson({ resource: RESOURCE, ...SCOPE })(spans));
  const expected = JSON.parse(
    new TextDecoder().decode(JsonTraceSerializer.serializeRequest(spans.map(official))),
  );
  expect(expected).toMatchObject(written);
  const [{ scopeSpans }] = written.resourceSpans;
  for (const span of scopeSpans[0].spans) {
    expect(span.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(span.spanId).toMatch(/^[0-9a-f]{16}$/);
    expect(Number(span.endTimeUnixNano) / 1e6).toBeCloseTo(Date.now(), -4);
  }
});
