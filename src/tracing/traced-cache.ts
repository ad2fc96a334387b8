import { ResponseCache } from '../response-cache/response-cache.js';
import type { Tracer } from './tracer.js';

type Respond = ResponseCache['respond'];

/** A response cache whose look-ups are spans. */
export class TracedCache extends ResponseCache {
  constructor(private readonly tracer: Tracer) {
    super();
  }

  override respond(...[request, text, produce]: Parameters<Respond>): ReturnType<Respond> {
    return this.tracer.within('response cache', {}, (span) => {
      if (span === null) return super.respond(request, text, produce);
      const before = { ...this.counts };
      const response = super.respond(request, text, produce);
      const { hits, shared, misses } = this.counts;
      const result =
        hits > before.hits
          ? 'hit'
          : shared > before.shared
            ? 'shared'
            : misses > before.misses
              ? 'miss'
              : 'none';
      span.setAttribute('petstore.cache.result', result);
      return response;
    });
  }
}
