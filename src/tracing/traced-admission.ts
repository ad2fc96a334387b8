import type { Meter } from '../admission/meter.js';
import type { Decision } from '../rate-limit/rules/limiter.js';
import type { Span } from './span.js';
import type { Tracer } from './tracer.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Its recorded span; null = it is not recorded. */
    trace: Span | null;
    /** The span of its GraphQL operation. */
    operationTrace: Span | null;
  }
}

/** The charges of the meter become spans. `place` returns where they are counted now: in `redis` or in `memory`. */
export function traceAdmission(tracer: Tracer, meter: Meter, place: () => string): void {
  const describe = (span: Span, decision: Decision): Decision => {
    span.set('petstore.limiter', place());
    span.set('petstore.decision', decision.admitted ? 'admitted' : 'refused');
    return decision;
  };
  const decide = meter.decide.bind(meter);
  meter.decide = (request, charge) => {
    // Its key may have been looked up before, so the span of the request need not be the current one.
    const parent = request.operationTrace ?? request.trace;
    if (parent === null) return decide(request, charge);
    return tracer.below(parent, 'admission', (span) => {
      const decision = decide(request, charge);
      if (decision instanceof Promise) return decision.then((known) => describe(span, known));
      return describe(span, decision);
    });
  };
}
