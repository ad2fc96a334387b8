import type { Decision } from '../rate-limit/rules/decision.js';
import type { Account, Charge, Limiter } from '../rate-limit/rules/limiter.js';
import type { Span, Tracer } from './tracer.js';

/** A limiter whose charges are spans. */
export class TracedLimiter implements Limiter {
  constructor(
    private readonly limiter: Limiter,
    private readonly tracer: Tracer,
    /** Where charges are counted now: in `redis` or in `memory`. */
    private readonly place: () => string,
  ) {}

  charge(request: Charge): Decision | Promise<Decision> {
    return this.tracer.within('admission', {}, (span) => {
      const decision = this.limiter.charge(request);
      if (span === null) return decision;
      if (!(decision instanceof Promise)) return this.describe(span, decision);
      return decision.then((known) => this.describe(span, known));
    });
  }

  private describe(span: Span, decision: Decision): Decision {
    span.setAttribute('petstore.limiter', this.place());
    span.setAttribute('petstore.decision', decision.admitted ? 'admitted' : 'refused');
    return decision;
  }

  peek(account: Account) {
    return this.limiter.peek(account);
  }

  unban(key: Pick<Account, 'subject'> & { keyId: string }) {
    return this.limiter.unban(key);
  }

  close(): Promise<void> {
    return this.limiter.close();
  }
}
