import type { FastifyInstance } from 'fastify';
import { EXPOSED_HEADERS } from './headers.js';

const ALLOW_ORIGIN = 'access-control-allow-origin';
const EXPOSED = EXPOSED_HEADERS.join(', ');
const METHODS = 'GET, HEAD, POST';
const MAX_AGE_SECONDS = '600';

/**
 * Lets browsers call from pages of these origins, and read the headers that are exposed. Nothing is refused here: the
 * browser keeps an answer from a page that may not have it. Preflights are answered by the routes, with `Allow`, and
 * cost nothing. WHATWG Fetch §3.2, the CORS protocol.
 */
export function allowOrigins(app: FastifyInstance, origins: ReadonlySet<string>): void {
  app.addHook('onRequest', ({ method, headers }, reply, done) => {
    const { origin } = headers;
    // Always: caches must know that other origins get other headers.
    reply.header('vary', 'Origin');
    reply.header('access-control-expose-headers', EXPOSED);
    if (origin !== undefined && origins.has(origin)) reply.header(ALLOW_ORIGIN, origin);
    if (method === 'OPTIONS') {
      const wanted = headers['access-control-request-headers'];
      reply.header('vary', 'Origin, Access-Control-Request-Headers');
      reply.header('access-control-allow-methods', METHODS);
      if (wanted !== undefined) reply.header('access-control-allow-headers', wanted);
      reply.header('access-control-max-age', MAX_AGE_SECONDS);
    }
    done();
  });
}
