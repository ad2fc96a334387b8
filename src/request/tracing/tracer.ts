import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Attributes,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  type Tracer as SpanMaker,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';

/** Recorded work in progress: its span, and the first work of this process in the trace. */
export class Work {
  readonly root: Work;

  constructor(
    readonly span: Span,
    parent: Work | null,
    /** The system's time at the zero of `performance.now()`. A trace keeps it, because the system's clock may jump. */
    readonly epochMs: number,
  ) {
    this.root = parent?.root ?? this;
  }

  get hasEnded(): boolean {
    return !this.span.isRecording();
  }

  /** The ids in the log lines of the work. */
  get logFields(): { trace_id: string; span_id: string } {
    const { traceId, spanId } = this.span.spanContext();
    return { trace_id: traceId, span_id: spanId };
  }

  end(): void {
    this.span.end(this.epochMs + performance.now());
  }

  /** Notes that the work has failed. The message is left out: it may repeat what a client sent. */
  fail(error: unknown): this {
    const { code, name } = Object(error) as { code?: unknown; name?: unknown };
    this.span.setAttribute('error.type', String(code ?? name ?? 'unknown'));
    this.span.setStatus({ code: SpanStatusCode.ERROR });
    return this;
  }
}

type OwnAttributes = ReturnType<typeof ownAttributes>;

/** They begin with the slug of the gateway. D-266. */
function ownAttributes(slug: string) {
  const prefix = slug.replaceAll('-', '_');
  return {
    requestId: `${prefix}.request_id`,
    limiter: `${prefix}.limiter`,
    decision: `${prefix}.decision`,
    cacheResult: `${prefix}.cache.result`,
    domain: `${prefix}.domain`,
    order: `${prefix}.order`,
  };
}

/** Starts spans, and knows the current one. Only recorded work has a current span, so everything else costs one look-up. D-141. */
export class Tracer {
  /** The current work until the running function returns. */
  private entered: Work | null = null;
  /** The current work of what waits. Node 20 follows promises with a hook, which costs more than all spans. */
  private readonly followed = new AsyncLocalStorage<Work>();
  /** The open work that is followed, by its roots. */
  private readonly roots = new Set<Work>();

  /** The names of attributes that begin with the slug. */
  readonly attributes: OwnAttributes;

  constructor(
    private readonly spans: SpanMaker,
    /** Whether a trace is recorded; `remote` is the client's span. */
    private readonly isRecorded: (remote: SpanContext | null) => boolean,
    private readonly now: () => number,
    slug: string,
  ) {
    this.attributes = ownAttributes(slug);
  }

  /** Starts the first work of this process for a request; null = the request is not recorded. Its end is `endRoot`. */
  startServer(remote: SpanContext | null): Work | null {
    return this.isRecorded(remote) ? this.startRoot('request', SpanKind.SERVER, remote) : null;
  }

  endRoot(root: Work): void {
    root.end();
    // Node then stops following promises.
    if (this.roots.delete(root) && this.roots.size === 0) this.followed.disable();
  }

  /** Work below the current one; null = nothing is recorded. */
  startChild(name: string, kind = SpanKind.INTERNAL): Work | null {
    const parent = this.entered ?? this.followed.getStore();
    // After the answer, work in the background still has the context of the request.
    if (!parent || parent.root.hasEnded) return null;
    const { span, epochMs } = parent;
    return new Work(this.start(name, kind, span.spanContext(), epochMs), parent, epochMs);
  }

  /** Calls `run`. Spans that it starts before it returns are below the work. */
  enter<T>(work: Work, run: () => T): T {
    const before = this.entered;
    this.entered = work;
    try {
      return run();
    } finally {
      this.entered = before;
    }
  }

  /** As `enter`, and spans of all asynchronous work that begins there are below the work too. */
  follow<T>(work: Work, run: () => T): T {
    // A client may have disconnected while its request waited.
    if (work.root.hasEnded) return run();
    this.roots.add(work.root);
    return this.followed.run(work, () => this.enter(work, run));
  }

  /** Calls `run`, whose spans are below a new span. In the background, without a current span, it begins a trace. */
  async withinTask<T>(name: string, attributes: Attributes, run: () => Promise<T>): Promise<T> {
    const child = this.startChild(name);
    child?.span.setAttributes(attributes);
    if (child) return endedAfter(child, () => this.follow(child, run));
    if (!this.isRecorded(null)) return run();
    const root = this.startRoot(name, SpanKind.INTERNAL, null);
    root.span.setAttributes(attributes);
    try {
      return await this.follow(root, run);
    } catch (error) {
      root.fail(error);
      throw error;
    } finally {
      this.endRoot(root);
    }
  }

  private startRoot(name: string, kind: SpanKind, remote: SpanContext | null): Work {
    const epochMs = this.now() - performance.now();
    return new Work(this.start(name, kind, remote, epochMs), null, epochMs);
  }

  private start(name: string, kind: SpanKind, parent: SpanContext | null, epochMs: number): Span {
    const context = parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
    return this.spans.startSpan(name, { kind, startTime: epochMs + performance.now() }, context);
  }
}

/** Ends the work with `run`, and returns its result unchanged. */
export function endedAfter<T>(work: Work, run: () => T): T {
  try {
    const result = run();
    if (result instanceof Promise) {
      result.then(
        () => work.end(),
        (error) => work.fail(error).end(),
      );
    } else work.end();
    return result;
  } catch (error) {
    work.fail(error).end();
    throw error;
  }
}
