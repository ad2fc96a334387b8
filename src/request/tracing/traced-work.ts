import { SpanKind } from '@opentelemetry/api';
import { Meter } from '../admission/meter.js';
import type { Account, Charge, Decision, Limiter, Standing } from '../rate-limit/rules/limiter.js';
import { ResponseCache } from '../response-cache/response-cache.js';
import { endedAfter, type Tracer, type Work } from './tracer.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Null = it is not recorded. */
    trace: Work | null;
    operationTrace: Work | null;
  }
}

/** Its charges become spans below the current one. */
export class TracedLimiter implements Limiter {
  constructor(
    private readonly limiter: Limiter,
    private readonly tracer: Tracer,
    /** Where charges are counted now. */
    private readonly place: () => 'redis' | 'memory',
  ) {}

  charge(charge: Charge): Decision | Promise<Decision> {
    const work = this.tracer.startChild('admission');
    if (work === null) return this.limiter.charge(charge);
    const describe = (decision: Decision): Decision => {
      work.span.setAttribute('petstore.limiter', this.place());
      work.span.setAttribute('petstore.decision', decision.admitted ? 'admitted' : 'refused');
      return decision;
    };
    return endedAfter(work, () => {
      const decided = this.limiter.charge(charge);
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
    const work = workOf(charge[0]);
    return work === null ? super.spend(...charge) : this.tracer.enter(work, () => super.spend(...charge));
  }

  override admitUnread(...document: Parameters<Meter['admitUnread']>): ReturnType<Meter['admitUnread']> {
    const work = workOf(document[0]);
    if (work === null) return super.admitUnread(...document);
    return this.tracer.enter(work, () => super.admitUnread(...document));
  }
}

function workOf({ operationTrace, trace }: Parameters<Meter['charge']>[0]): Work | null {
  return operationTrace ?? trace;
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
      work.span.setAttribute('petstore.cache.result', counted?.[0] ?? 'none');
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
