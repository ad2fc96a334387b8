import type { FastifyReply, FastifyRequest } from 'fastify';
import { canonicalLinks, IGNORED_PARAMETERS } from '../../request/http/headers.js';

/** Encoded, the header stays below 3 KB. */
const MOST_IGNORED = 10;
const NAME_LENGTH = 30;

/** Lists the query parameters that an operation does not know: the contract allows no 400, and a typo must not stay hidden. */
export function nameIgnored(reply: FastifyReply, known: readonly string[] = []): void {
  const ignored = Object.keys(reply.request.query as object).filter((name) => !known.includes(name));
  if (ignored.length === 0) return;
  const names = ignored
    .slice(0, MOST_IGNORED)
    // By way of a buffer, because half of a character cannot be encoded.
    .map((name) => encodeURIComponent(Buffer.from(name.slice(0, NAME_LENGTH)).toString()));
  reply.header(IGNORED_PARAMETERS, [...names, ...(ignored.length > MOST_IGNORED ? ['...'] : [])].join(', '));
}

/** The number in a query parameter, digits only: `Number` would also accept ` 20`, `1e2` and `0x14`. */
export function wholeNumber(value: unknown): unknown {
  return typeof value === 'string' && /^(0|[1-9]\d{0,9})$/.test(value) ? Number(value) : value;
}

/**
 * Sets the links of a page by RFC 8288: `first`, and `next` if there is a cursor. `query` is the request's own page size and
 * filters, without unknown parameters; no value needs escaping.
 */
export function linkPages(request: FastifyRequest, reply: FastifyReply, page: PageAddress): void {
  const { url, query, nextCursor } = page;
  const links = [`<${url}?${query}>; rel="first"`];
  if (nextCursor !== null) links.push(`<${url}?${query}&cursor=${nextCursor}>; rel="next"`);
  reply.header('link', [...links, ...canonicalLinks(request)].join(', '));
}

interface PageAddress {
  url: string;
  query: string;
  /** Null = the last page. */
  nextCursor: string | null;
}
