import { SpanKind } from '@opentelemetry/api';
import { Meter } from '../admission/meter.js';
import type { Charge, Decision } from '../rate-limit/rules/limiter.js';
import { ResponseCache } from '../response-cache/response-cache.js';
import { endedAfter, type Tracer, type Work } from './tracer.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Null = it is not recorded. */
    trace: Work | null;
    operationTrace: Work | null;
  }
}

type Request = Parameters<Meter['charge']>[0];
export type MeterParts = ConstructorParameters<typeof Meter>;

/** Its charges become spans. They name the request, whose key may have been looked up before. */
export class TracedMeter extends Meter {
  constructor(
    private readonly tracer: Tracer,
    /** Where charges are counted now. */
    private readonly place: () => 'redis' | 'memory',
    ...parts: MeterParts
  ) {
    super(...parts);
  }

  protected override decide(request: Request, charge: Charge): Decision | Promise<Decision> {
    const parent = request.operationTrace ?? request.trace;
    const work = parent && this.tracer.enter(parent, () => this.tracer.startChild('admission'));
    if (!work) return super.decide(request, charge);
    const describe = (decision: Decision): Decision => {
      work.span.setAttribute(this.tracer.attributes.limiter, this.place());
      work.span.setAttribute(this.tracer.attributes.decision, decision.admitted ? 'admitted' : 'refused');
      return decision;
    };
    return endedAfter(work, () => {
      const decided = super.decide(request, charge);
      return decided instanceof Promise ? decided.then(describe) : describe(decided);
    });
  }
}

/** Its look-ups become spans. */
export class TracedCache extends ResponseCache {
  constructor(private readonly tracer: Tracer) {
    super();
  }

  override respond(...parts: Parameters<ResponseCache['respond']>): ReturnType<ResponseCache['respond']> {
    const work = this.tracer.startChild('response cache');
    if (work === null) return super.respond(...parts);
    return endedAfter(work, () => {
      const before = { ...this.counts };
      const response = super.respond(...parts);
      const results = { hit: 'hits', shared: 'shared', miss: 'misses' } as const;
      const counted = Object.entries(results).find(([, count]) => this.counts[count] > before[count]);
      work.span.setAttribute(this.tracer.attributes.cacheResult, counted?.[0] ?? 'none');
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
  return <T>(sql: string, run: () => Promise<T>): Promise<T> => {
    const work = tracer.startChild('statement', SpanKind.CLIENT);
    if (work === null) return run();
    const summary = querySummary(sql);
    work.span.updateName(summary);
    work.span.setAttributes({ 'db.system.name': system, 'db.query.summary': summary });
    return endedAfter(work, run);
  };
}

/** The operation and the tables of a statement: `SELECT books`. It never has a value. */
export function querySummary(sql: string): string {
  const [, operation = 'statement'] = OPERATION.exec(sql) ?? [];
  const tables = [...sql.replace(LITERAL, '').matchAll(TABLE)].map(([, table = '']) => table);
  return [operation.toUpperCase(), ...[...new Set(tables)].slice(0, MOST_TABLES)].join(' ');
}
