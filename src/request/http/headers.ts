import type { FastifyRequest } from 'fastify';
import { capitalized } from '../../noun-words.js';

/** Says that a response is the stored answer to a repeated Idempotency-Key. */
export const REPLAYED = 'Idempotent-Replayed';

declare module 'fastify' {
  interface FastifyInstance {
    names: OwnNames;
  }
}

/** The names in HTTP that begin with the slug of the gateway. D-266. */
export interface OwnNames {
  /** Names the query parameters that an operation does not know. */
  readonly ignoredParameters: string;
  /** From which changes of a list can be followed. `petstore-gateway/client` finds it by its end. */
  readonly changesCursor: string;
  /** Of a request on staging: the refusal that it wants. */
  readonly rehearse: string;
  /** The strikes of a key, in the answer to the request that made the last one. */
  readonly strikes: string;
  /** The value of `WWW-Authenticate`. */
  readonly challenge: string;
  /** Response headers that a browser on another origin may read. */
  readonly exposed: string;
}

/** Called once for a gateway: the path of a request makes no name. */
export function ownNames(slug: string): OwnNames {
  const prefix = slug.split('-').map(capitalized).join('-');
  const names = {
    ignoredParameters: `${prefix}-Ignored-Parameters`,
    changesCursor: `${prefix}-Changes-Cursor`,
    rehearse: `${prefix}-Rehearse`,
    strikes: `${prefix}-Strikes`,
  };
  const { changesCursor, ignoredParameters, rehearse, strikes } = names;
  const own = [changesCursor, ignoredParameters, rehearse, strikes];
  const exposed = [...EXPOSED.slice(0, 6), ...own, ...EXPOSED.slice(6)].join(', ');
  return { ...names, challenge: `Bearer realm="${slug}"`, exposed };
}

const EXPOSED = [
  'Allow',
  'Deprecation',
  'ETag',
  REPLAYED,
  'Link',
  'Location',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Sunset',
  'WWW-Authenticate',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
];

/** The link to the same resource on the project's primary domain; none at that domain itself. RFC 6596. */
export function canonicalLinks({ site }: FastifyRequest): string[] {
  if (site.canonicalUrl === null) return [];
  // The client's path is unchanged in the URL, and an angle bracket would end the link.
  const url = site.canonicalUrl.replace(/[<>]/g, (bracket) => encodeURIComponent(bracket));
  return [`<${url}>; rel="canonical"`];
}
