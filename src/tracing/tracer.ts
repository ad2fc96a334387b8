import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  type Tracer as SpanSource,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';

export type { Attributes, Span, SpanContext } from '@opentelemetry/api';

/** A recorded span in which other spans begin. */
export interface Scope {
  readonly span: Span;
  readonly context: Context;
}

/**
 * Starts spans, and knows the current one of asynchronous work. Only recorded work has a current span, so that everything
 * else costs one look-up.
 */
export class Tracer {
  private readonly current = new AsyncLocalStorage<Context>();
  private open = 0;

  constructor(
    private readonly spans: SpanSource,
    /** Whether a trace is recorded; `remote` is the client's span. */
    private readonly isRecorded: (remote: SpanContext | null) => boolean,
  ) {}

  /** Whether the request is recorded. Then call `startServer`. */
  records(remote: SpanContext | null): boolean {
    return this.isRecorded(remote);
  }

  /** Starts the first span of this process for a request that is recorded. */
  startServer(name: string, attributes: Attributes, remote: SpanContext | null): Scope {
    const parent = remote ? trace.setSpanContext(ROOT_CONTEXT, remote) : ROOT_CONTEXT;
    return this.startRoot(name, { kind: SpanKind.SERVER, attributes }, parent);
  }

  /** A span below the current one; null = nothing is recorded. */
  startChild(name: string): Scope | null {
    const parent = this.current.getStore();
    if (parent === undefined) return null;
    const span = this.spans.startSpan(name, {}, parent);
    return { span, context: trace.setSpan(parent, span) };
  }

  /** Calls `work`, whose spans begin below the scope's. */
  run<T>({ context }: Scope, work: () => T): T {
    return this.current.run(context, work);
  }

  /** Called when a request of `startServer` has its answer. */
  endServer({ span }: Scope): void {
    span.end();
    this.closeRoot();
  }

  /** Calls `work` in a span below the current one; with null if nothing is recorded. */
  within<T>(name: string, attributes: Attributes, work: (span: Span | null) => T): T {
    return this.child(name, { attributes }, work);
  }

  /** As `within`, for a call of another program. */
  withinCall<T>(name: string, attributes: Attributes, work: (span: Span | null) => T): T {
    return this.child(name, { kind: SpanKind.CLIENT, attributes }, work);
  }

  /** As `within`, for work in the background: without a current span it begins a trace. */
  async withinTask<T>(
    name: string,
    attributes: Attributes,
    work: (span: Span | null) => Promise<T>,
  ): Promise<T> {
    if (this.current.getStore() !== undefined) return this.within(name, attributes, work);
    if (!this.isRecorded(null)) return work(null);
    const scope = this.startRoot(name, { attributes }, ROOT_CONTEXT);
    try {
      return await this.run(scope, () => ended(scope.span, work));
    } finally {
      this.closeRoot();
    }
  }

  private child<T>(
    name: string,
    options: { kind?: SpanKind; attributes: Attributes },
    work: (span: Span | null) => T,
  ): T {
    const parent = this.current.getStore();
    if (parent === undefined) return work(null);
    const span = this.spans.startSpan(name, options, parent);
    return this.current.run(trace.setSpan(parent, span), () => ended(span, work));
  }

  private startRoot(
    name: string,
    options: { kind?: SpanKind; attributes: Attributes },
    parent: Context,
  ): Scope {
    const span = this.spans.startSpan(name, options, parent);
    this.open += 1;
    return { span, context: trace.setSpan(parent, span) };
  }

  private closeRoot(): void {
    this.open -= 1;
    // Node then stops following promises, which costs all requests a few percent.
    if (this.open === 0) this.current.disable();
  }
}

/** Ends the span with the work, and returns its result unchanged. */
function ended<T>(span: Span, work: (span: Span) => T): T {
  try {
    const result = work(span);
    if (result instanceof Promise) {
      result.then(
        () => span.end(),
        (error) => endWith(span, error),
      );
    } else span.end();
    return result;
  } catch (error) {
    endWith(span, error);
    throw error;
  }
}

/** The message is left out: it may repeat what a client sent. */
function endWith(span: Span, error: unknown): void {
  const { code, name } = Object(error) as { code?: unknown; name?: unknown };
  span.setAttribute('error.type', String(code ?? name ?? 'unknown'));
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}
