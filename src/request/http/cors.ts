import type { FastifyReply, onRequestHookHandler } from 'fastify';

const ALLOW_ORIGIN = 'access-control-allow-origin';
const EXPOSE_HEADERS = 'access-control-expose-headers';
export const ALLOW_METHODS = 'access-control-allow-methods';
const ALLOW_HEADERS = 'access-control-allow-headers';
const MAX_AGE = 'access-control-max-age';
const LOCAL_ORIGIN = /^http:\/\/(?:localhost|127\.0\.0\.1)(?::\d{1,5})?$/;
const METHODS = 'GET, HEAD, POST';
const MAX_AGE_SECONDS = '600';

/**
 * Lets pages of these origins call the API, and read the exposed headers. Refuses nothing: the browser withholds the
 * response from other pages. The routes respond to preflights, with `Allow`, at no cost. WHATWG Fetch §3.2, the CORS
 * protocol. D-22.
 */
export function allowOrigins(isAllowed: (origin: string) => boolean, exposed: string): onRequestHookHandler {
  return ({ method, headers }, reply, done) => {
    const { origin } = headers;
    // Always set: caches must know that the headers depend on the origin.
    reply.header('vary', 'Origin');
    reply.header(EXPOSE_HEADERS, exposed);
    if (origin !== undefined && isAllowed(origin)) reply.header(ALLOW_ORIGIN, origin);
    if (method === 'OPTIONS') {
      const wanted = headers['access-control-request-headers'];
      reply.header('vary', 'Origin, Access-Control-Request-Headers');
      reply.header(ALLOW_METHODS, METHODS);
      if (wanted !== undefined) reply.header(ALLOW_HEADERS, wanted);
      reply.header(MAX_AGE, MAX_AGE_SECONDS);
    }
    done();
  };
}

/** The headers for a response that no hook sees. */
export function originHeaders(
  isAllowed: (origin: string) => boolean,
  exposed: string,
  origin: string | undefined,
) {
  const ofOrigin = origin !== undefined && isAllowed(origin) ? { [ALLOW_ORIGIN]: origin } : {};
  return { vary: 'Origin', [EXPOSE_HEADERS]: exposed, ...ofOrigin };
}

/** Whether a page of this origin comes from a development server on the user's own machine. D-81. */
export function isLocalOrigin(origin: string): boolean {
  return LOCAL_ORIGIN.test(origin);
}

/** Keeps the pages of other sites from reading what is served here, whatever `allowOrigins` let them. */
export const allowNoOrigin: onRequestHookHandler = (_, reply, done) => {
  removeOrigin(reply);
  done();
};

export function removeOrigin(reply: FastifyReply): void {
  for (const name of [ALLOW_ORIGIN, EXPOSE_HEADERS, ALLOW_METHODS, ALLOW_HEADERS, MAX_AGE]) {
    reply.removeHeader(name);
  }
}
