import { AsyncLocalStorage } from 'node:async_hooks';
import { type Attributes, Span, type SpanKind } from './span.js';
import type { RemoteSpan } from './trace-parent.js';

/** Starts spans, and knows the current one. Only recorded work has a current span, so everything else costs one look-up. */
export class Tracer {
  /** The current span until the running function returns. */
  private entered: Span | null = null;
  /** The current span of asynchronous work. Node 20 follows promises with a hook, which costs more than all spans. */
  private readonly followed = new AsyncLocalStorage<Span>();
  /** The open spans that asynchronous work follows, by their roots. */
  private readonly roots = new Set<Span>();

  constructor(
    private readonly record: (ended: Span) => void,
    /** Whether a trace is recorded; `remote` is the client's span. */
    private readonly isRecorded: (remote: RemoteSpan | null) => boolean,
    private readonly now: () => number,
  ) {}

  /** Starts the first span of this process for a request; null = the request is not recorded. Its end is `endRoot`. */
  startServer(remote: RemoteSpan | null): Span | null {
    return this.isRecorded(remote) ? this.startRoot('request', 'server', remote) : null;
  }

  /** Ends the first span of this process in a trace. */
  endRoot(span: Span): void {
    span.end();
    // Node then stops following promises.
    if (this.roots.delete(span) && this.roots.size === 0) this.followed.disable();
  }

  /** A span below the current one; null = nothing is recorded. */
  startChild(name: string, kind: SpanKind = 'internal'): Span | null {
    const parent = this.entered ?? this.followed.getStore();
    // After the answer, work in the background still has the context of the request.
    return parent && !parent.root.hasEnded ? this.childOf(parent, name, kind) : null;
  }

  /** Calls `work`. Spans that it starts before it returns are below the span. */
  enter<T>(span: Span, work: () => T): T {
    const before = this.entered;
    this.entered = span;
    try {
      return work();
    } finally {
      this.entered = before;
    }
  }

  /** As `enter`, and spans of all asynchronous work that begins there are below the span too. */
  follow<T>(span: Span, work: () => T): T {
    // A client may have disconnected while its request waited.
    if (!span.root.hasEnded) this.roots.add(span.root);
    return this.followed.run(span, () => this.enter(span, work));
  }

  /** Calls `work` in a span below the current one; with null if nothing is recorded. No span is below it. */
  within<T>(name: string, kind: SpanKind, work: (span: Span | null) => T): T {
    const span = this.startChild(name, kind);
    return span === null ? work(null) : endedAfter(span, () => work(span));
  }

  /** As `within`, below a span that need not be the current one. */
  below<T>(parent: Span, name: string, work: (span: Span) => T): T {
    const span = this.childOf(parent, name, 'internal');
    return endedAfter(span, () => work(span));
  }

  /** Calls `work`, whose spans are below a new span. In the background, without a current span, it begins a trace. */
  async withinTask<T>(name: string, attributes: Attributes, work: () => Promise<T>): Promise<T> {
    const child = this.startChild(name);
    if (child) return endedAfter(child.with(attributes), () => this.follow(child, work));
    if (!this.isRecorded(null)) return work();
    const root = this.startRoot(name, 'internal', null).with(attributes);
    try {
      return await this.follow(root, work);
    } catch (error) {
      root.fail(error);
      throw error;
    } finally {
      this.endRoot(root);
    }
  }

  private childOf(parent: Span, name: string, kind: SpanKind): Span {
    return new Span({ name, kind, parent, epochMs: parent.epochMs }, this.record);
  }

  private startRoot(name: string, kind: SpanKind, parent: RemoteSpan | null): Span {
    return new Span({ name, kind, parent, epochMs: this.now() - performance.now() }, this.record);
  }
}

/** Ends the span with the work, and returns its result unchanged. */
function endedAfter<T>(span: Span, work: () => T): T {
  try {
    const result = work();
    if (result instanceof Promise) {
      result.then(
        () => span.end(),
        (error) => span.fail(error).end(),
      );
    } else span.end();
    return result;
  } catch (error) {
    span.fail(error).end();
    throw error;
  }
}
