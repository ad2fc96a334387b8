/** Says that a response is the stored answer to a repeated Idempotency-Key. */
export const REPLAYED = 'Idempotent-Replayed';
/** Names the query parameters that an operation does not know. */
export const IGNORED_PARAMETERS = 'Petstore-Ignored-Parameters';

/** Response headers that a browser on another origin may read. */
export const EXPOSED_HEADERS = [
  'Allow',
  'Deprecation',
  'ETag',
  REPLAYED,
  'Link',
  'Location',
  IGNORED_PARAMETERS,
  'Petstore-Rehearse',
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
