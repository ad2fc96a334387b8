import { SpanKind } from '@opentelemetry/api';
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

/** Its charges become spans below the current one, which is that of the request or of its GraphQL operation. */
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
