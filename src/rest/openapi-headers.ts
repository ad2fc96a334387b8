import { IGNORED_PARAMETERS, REPLAYED } from '../http/headers.js';

const text = (description: string, example: string) => ({
  description,
  schema: { type: 'string', examples: [example] },
});

const count = (description: string, example: number) => ({
  description,
  schema: { type: 'integer', minimum: 0, examples: [example] },
});

/** Every response header of `/v1`, as OpenAPI declares it. */
export const HEADERS = {
  'X-Request-Id': text(
    "Identifies this request in the gateway's log.",
    '5f0c6e1e-3a52-4c1b-8f5b-0d6a1f2c9a7e',
  ),
  'Cache-Control': text(
    'The response is for this client only, and must be revalidated before reuse.',
    'private, no-cache',
  ),
  Deprecation: text('RFC 9745: when the operation was deprecated.', '@1764892800'),
  ETag: text(
    'RFC 9110: changes with the body; send it back in If-None-Match.',
    '"1Q0vXh3mR2k8n5b7c9d0e1f2g3h"',
  ),
  [REPLAYED]: text('`true` on the stored answer to a repeated Idempotency-Key: nothing was created.', 'true'),
  Link: text(
    'RFC 8288: related pages.',
    '<http://127.0.0.1:4000/v1/pets?limit=20&cursor=cGV0OjQy>; rel="next"',
  ),
  Location: text('The address of the created pet.', 'http://127.0.0.1:4000/v1/pets/4711'),
  [IGNORED_PARAMETERS]: text(
    'Query parameters that the operation does not know and has ignored, percent-encoded: at most 10, each cut to 30 characters. `...` stands for further ones.',
    'page, sort',
  ),
  'Retry-After': {
    description: 'Seconds to wait before a new attempt.',
    schema: { type: 'integer', minimum: 1 },
  },
  RateLimit: text(
    'IETF draft: the remaining quota of both windows.',
    '"minute";r=59;t=31, "day";r=999;t=5000',
  ),
  'RateLimit-Policy': text(
    'IETF draft: the limits of both windows.',
    '"minute";q=60;w=60, "day";q=1000;w=86400',
  ),
  Sunset: text('RFC 8594: when the operation will be removed.', 'Thu, 05 Dec 2030 00:00:00 GMT'),
  Vary: text('The request headers that the response depends on.', 'Authorization'),
  'X-RateLimit-Limit': count(
    'Requests allowed in the window: the violated one, otherwise the one with less left.',
    60,
  ),
  'X-RateLimit-Remaining': count('Requests left in that window.', 59),
  'X-RateLimit-Reset': count('Unix timestamp at which that window resets.', 1764892860),
  'WWW-Authenticate': text('RFC 6750: how to authenticate.', 'Bearer realm="petstore"'),
} as const;

export type HeaderName = keyof typeof HEADERS;
