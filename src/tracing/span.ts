import { randomFillSync } from 'node:crypto';

export type Attribute = string | number | boolean;
export type Attributes = Readonly<Record<string, Attribute>>;

/** The numbers of OTLP. */
export const SPAN_KIND = { internal: 1, server: 2, client: 3 } as const;

/** With this limit a span has at most about 3 KB. */
const MOST_CHARACTERS = 200;

export type SpanKind = keyof typeof SPAN_KIND;

/** The place of a span in its trace. */
export interface SpanContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
}

interface SpanOptions {
  name: string;
  kind: SpanKind;
  /** The client's span counts too; null = the span begins a trace. */
  parent: Span | SpanContext | null;
  /** The system's time at the zero of `performance.now()`. A trace keeps it, because the system's clock may jump. */
  epochMs: number;
}

/** A recorded piece of work. */
export class Span implements SpanContext {
  readonly traceId: string;
  readonly spanId = randomId(16);
  readonly parentSpanId: string | null;
  /** The first span of this process in the trace. */
  readonly root: Span;
  readonly kind: SpanKind;
  readonly startedAtMs: number;
  endedAtMs = 0;
  hasFailed = false;
  readonly attributes: Record<string, Attribute> = {};
  name: string;
  readonly epochMs: number;

  constructor(
    { name, kind, parent, epochMs }: SpanOptions,
    private readonly record: (ended: Span) => void,
  ) {
    this.name = name;
    this.kind = kind;
    this.traceId = parent?.traceId ?? randomId(32);
    this.parentSpanId = parent?.spanId ?? null;
    this.root = parent instanceof Span ? parent.root : this;
    this.epochMs = epochMs;
    this.startedAtMs = epochMs + performance.now();
  }

  get hasEnded(): boolean {
    return this.endedAtMs > 0;
  }

  /** The ids in the log lines of the work. */
  get logFields(): { trace_id: string; span_id: string } {
    return { trace_id: this.traceId, span_id: this.spanId };
  }

  set(name: string, value: Attribute): this {
    this.attributes[name] = typeof value === 'string' ? value.slice(0, MOST_CHARACTERS) : value;
    return this;
  }

  with(attributes: Attributes): this {
    for (const [name, value] of Object.entries(attributes)) this.set(name, value);
    return this;
  }

  end(): void {
    this.endedAtMs = this.epochMs + performance.now();
    this.record(this);
  }

  /** Notes that the work has failed. The message is left out: it may repeat what a client sent. */
  fail(error: unknown): this {
    const { code, name } = Object(error) as { code?: unknown; name?: unknown };
    this.set('error.type', String(code ?? name ?? 'unknown'));
    this.hasFailed = true;
    return this;
  }
}

const RANDOM = Buffer.alloc(4_096);
let digits = '';
let used = 0;

/** Random digits come in a block: a call for each id would cost ten times as much. */
function randomId(length: number): string {
  if (used + length > digits.length) {
    digits = randomFillSync(RANDOM).toString('hex');
    used = 0;
  }
  used += length;
  return digits.slice(used - length, used);
}
