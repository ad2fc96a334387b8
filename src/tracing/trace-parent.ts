import type { SpanContext } from './span.js';

/** W3C Trace Context §3.2. A later version may add fields. */
const TRACE_PARENT =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const SAMPLED = 1;
/** The ids are parts of the header, so the spans that wait keep the whole header in memory. */
const MOST_CHARACTERS = 200;

/** The client's span. */
export interface RemoteSpan extends SpanContext {
  /** Whether the client records the trace. */
  readonly isRecorded: boolean;
}

/** The span that a `traceparent` header names; null = the header is missing, malformed or too long. */
export function readTraceParent(header: string | string[] | undefined): RemoteSpan | null {
  if (typeof header !== 'string' || header.length > MOST_CHARACTERS) return null;
  const [, version, traceId, spanId, flags, more] = TRACE_PARENT.exec(header) ?? [];
  if (traceId === undefined || spanId === undefined || (version === '00' && more !== undefined)) return null;
  return { traceId, spanId, isRecorded: (Number.parseInt(flags as string, 16) & SAMPLED) === SAMPLED };
}
