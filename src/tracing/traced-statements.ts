import type { Tracer } from './tracer.js';

const OPERATION = /^[\s(]*([a-z]+)/i;
const TABLE = /\b(?:FROM|INTO|UPDATE|JOIN)\s+[`"]?([a-z_]\w*)/gi;
const LITERAL = /'[^']*'/g;
const MOST_TABLES = 4;

/** Calls `run` in a span of the statement. */
export function traceStatements(tracer: Tracer, system: string) {
  return <T>(sql: string, run: () => Promise<T>): Promise<T> => {
    return tracer.within('statement', 'client', (span) => {
      if (span !== null) {
        const summary = querySummary(sql);
        span.name = summary;
        span.set('db.system.name', system);
        span.set('db.query.summary', summary);
      }
      return run();
    });
  };
}

/** The operation and the tables of a statement: `SELECT pets`. It never has a value. */
export function querySummary(sql: string): string {
  const [, operation = 'statement'] = OPERATION.exec(sql) ?? [];
  const tables = [...sql.replace(LITERAL, '').matchAll(TABLE)].map(([, table = '']) => table);
  return [operation.toUpperCase(), ...[...new Set(tables)].slice(0, MOST_TABLES)].join(' ');
}
