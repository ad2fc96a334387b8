import { SpanKind } from '@opentelemetry/api';
import { Meter } from '../admission/meter.js';
import type { Account, Charge, Decision, Limiter, Standing } from '../rate-limit/rules/limiter.js';
import { ResponseCache } from '../response-cache/response-cache.js';
import type { Tracer, Work } from './tracer.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Null = it is not recorded. */
    trace: Work | null;
    /** The work of its GraphQL operation. */
    operationTrace: Work | null;
  }
}

/** Its charges become spans below the current one. */
export class TracedLimiter implements Pick<Limiter, 'charge' | 'peek'> {
  constructor(
    private readonly limiter: Limiter,
    private readonly tracer: Tracer,
    /** Where charges are counted now. */
    private readonly place: () => 'redis' | 'memory',
  ) {}

  charge(charge: Charge): Decision | Promise<Decision> {
    return this.tracer.within('admission', SpanKind.INTERNAL, (span) => {
      const decided = this.limiter.charge(charge);
      if (span === null) return decided;
      const describe = (decision: Decision): Decision => {
        span.setAttribute('petstore.limiter', this.place());
        span.setAttribute('petstore.decision', decision.admitted ? 'admitted' : 'refused');
        return decision;
      };
      return decided instanceof Promise ? decided.then(describe) : describe(decided);
    });
  }

  peek(account: Account): Standing | Promise<Standing> {
    return this.limiter.peek(account);
  }
}

/** The current work is that of the request which it charges: its key may have been looked up before. */
export class TracedMeter extends Meter {
  constructor(
    private readonly tracer: Tracer,
    ...parts: ConstructorParameters<typeof Meter>
  ) {
    super(...parts);
  }

  protected override spend(...charge: Parameters<Meter['charge']>): ReturnType<Meter['charge']> {
    return this.within(charge[0], () => super.spend(...charge));
  }

  override admitUnread(...document: Parameters<Meter['admitUnread']>): ReturnType<Meter['admitUnread']> {
    return this.within(document[0], () => super.admitUnread(...document));
  }

  private within<T>({ operationTrace, trace }: Parameters<Meter['charge']>[0], run: () => T): T {
    const work = operationTrace ?? trace;
    return work === null ? run() : this.tracer.enter(work, run);
  }
}

/** Its look-ups become spans. */
export class TracedCache extends ResponseCache {
  constructor(private readonly tracer: Tracer) {
    super();
  }

  override respond(
    ...[request, text, produce]: Parameters<ResponseCache['respond']>
  ): ReturnType<ResponseCache['respond']> {
    return this.tracer.within('response cache', SpanKind.INTERNAL, (span) => {
      const before = { ...this.counts };
      const response = super.respond(request, text, produce);
      const { hits, shared, misses } = this.counts;
      if (hits > before.hits) span?.setAttribute('petstore.cache.result', 'hit');
      else if (shared > before.shared) span?.setAttribute('petstore.cache.result', 'shared');
      else if (misses > before.misses) span?.setAttribute('petstore.cache.result', 'miss');
      else span?.setAttribute('petstore.cache.result', 'none');
      return response;
    });
  }
}

const OPERATION = /^[\s(]*([a-z]+)/i;
const TABLE = /\b(?:FROM|INTO|UPDATE|JOIN)\s+[`"]?([a-z_]\w*)/gi;
const LITERAL = /'[^']*'/g;
const MOST_TABLES = 4;

/** Calls `run` in a span of the statement. */
export function traceStatements(tracer: Tracer, system: string) {
  return <T>(sql: string, run: () => Promise<T>): Promise<T> =>
    tracer.within('statement', SpanKind.CLIENT, (span) => {
      if (span !== null) {
        const summary = querySummary(sql);
        span.updateName(summary);
        span.setAttributes({ 'db.system.name': system, 'db.query.summary': summary });
      }
      return run();
    });
}

/** The operation and the tables of a statement: `SELECT pets`. It never has a value. */
export function querySummary(sql: string): string {
  const [, operation = 'statement'] = OPERATION.exec(sql) ?? [];
  const tables = [...sql.replace(LITERAL, '').matchAll(TABLE)].map(([, table = '']) => table);
  return [operation.toUpperCase(), ...[...new Set(tables)].slice(0, MOST_TABLES)].join(' ');
}
