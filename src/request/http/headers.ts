import type { FastifyRequest } from 'fastify';

/** Says that a response is the stored answer to a repeated Idempotency-Key. */
export const REPLAYED = 'Idempotent-Replayed';
/** Names the query parameters that an operation does not know. */
export const IGNORED_PARAMETERS = 'Petstore-Ignored-Parameters';
/** From which changes of a list can be followed. */
export const CHANGES_CURSOR = 'Petstore-Changes-Cursor';

/** The strikes of a key, in the answer to the request that made the last one. */
export const STRIKES = 'Petstore-Strikes';

/** Response headers that a browser on another origin may read. */
export const EXPOSED_HEADERS = [
  'Allow',
  'Deprecation',
  'ETag',
  REPLAYED,
  'Link',
  'Location',
  CHANGES_CURSOR,
  IGNORED_PARAMETERS,
  'Petstore-Rehearse',
  STRIKES,
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Sunset',
  'WWW-Authenticate',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
] as const;

/** The link to the same resource on the project's primary domain; none at that domain itself. RFC 6596. */
export function canonicalLinks({ site }: FastifyRequest): string[] {
  if (site.canonicalUrl === null) return [];
  // The client's path is unchanged in the URL, and an angle bracket would end the link.
  const url = site.canonicalUrl.replace(/[<>]/g, (bracket) => encodeURIComponent(bracket));
  return [`<${url}>; rel="canonical"`];
}
