import type { ResponseCache } from '../response-cache/response-cache.js';
import type { Tracer } from './tracer.js';

/** The look-ups of the cache become spans. */
export function traceCache(tracer: Tracer, cache: ResponseCache): void {
  const respond = cache.respond.bind(cache);
  cache.respond = (request, text, produce) =>
    tracer.within('response cache', 'internal', (span) => {
      if (span === null) return respond(request, text, produce);
      const before = { ...cache.counts };
      const response = respond(request, text, produce);
      const { hits, shared, misses } = cache.counts;
      if (hits > before.hits) span.set('petstore.cache.result', 'hit');
      else if (shared > before.shared) span.set('petstore.cache.result', 'shared');
      else if (misses > before.misses) span.set('petstore.cache.result', 'miss');
      else span.set('petstore.cache.result', 'none');
      return response;
    });
}
