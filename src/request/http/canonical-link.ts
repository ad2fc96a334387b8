import type { FastifyRequest } from 'fastify';

/** The link to the same resource on the project's primary domain; none at that domain itself. RFC 6596. */
export function canonicalLinks({ site }: FastifyRequest): string[] {
  if (site.canonicalUrl === null) return [];
  // The client's path is unchanged in the URL, and an angle bracket would end the link.
  const url = site.canonicalUrl.replace(/[<>]/g, (bracket) => encodeURIComponent(bracket));
  return [`<${url}>; rel="canonical"`];
}
