import type { FastifyReply, FastifyRequest, onRequestHookHandler, onSendHookHandler } from 'fastify';
import Negotiator from 'negotiator';
import { AppError } from '../../ground/kernel/errors.js';
import { isKnownTag, strongTag } from '../../request/http/content/entity-tag.js';
import { canonicalLinks, type OwnNames } from '../../request/http/headers.js';
import type { KeptResponse, ResponseCache } from '../../request/response-cache/response-cache.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    operationId?: string;
    /** Sets headers that belong on every response of the route, refusals by admission included. */
    announce?: (reply: FastifyReply) => void;
    /** The noun on whose data the response of a GET depends, beside the URL and the key's scopes: it may be cached. */
    dataOf?: string;
  }
  interface FastifyRequest {
    /** Hands the response to the cache; null = the cache has not asked for it. */
    shareResponse: ((response: KeptResponse | null) => void) | null;
  }
}

/** A client may send the `Content-Type` of a response back in `Accept`, with its `charset`. */
const JSON_TYPES = ['application/json; charset=utf-8', 'application/json'];

/** Ignored parameters that are named. Encoded, the header stays below 3 KB. */
const MOST_IGNORED = 10;
const NAME_LENGTH = 30;

/** Sets `Vary` and the route's own headers on every response, and notes the operation; refusals by admission included. */
export const announceAnswer: onRequestHookHandler = (request, reply, done) => {
  varyBy(reply, 'Authorization');
  const { operationId, announce, dataOf } = request.routeOptions.config;
  request.operation = operationId ?? null;
  request.dataOf = request.method === 'GET' ? (dataOf ?? null) : null;
  announce?.(reply);
  done();
};

/** Refuses clients that accept no JSON. Throws `AppError not_acceptable`. */
export const requireJsonAccepted: onRequestHookHandler = (request, _, done) => {
  if (request.method === 'OPTIONS' || acceptsJson(request)) return done();
  done(new AppError('not_acceptable', 'Answers here are application/json; change the Accept header.'));
};

/** Serves cached responses on routes that allow it, while the data version is unchanged. Runs after admission. */
export function answerFromMemory(cache: ResponseCache): onRequestHookHandler {
  return (request, reply, done) => {
    if (request.dataOf === null) return done();
    // Both are in the `Link` header of the response.
    const { origin, canonicalUrl } = request.site;
    const text = `${origin ?? ''}${request.url}${canonicalUrl === null ? '' : ` ${canonicalUrl}`}`;
    const produce = () =>
      new Promise<KeptResponse | null>((resolve) => {
        request.shareResponse = resolve;
      });
    const response = cache.respond(request, text, produce);
    if (request.shareResponse) done();
    else if (response instanceof Promise) response.then((shared) => (shared ? send(reply, shared) : done()));
    else send(reply, response);
  };
}

/** Caches the response of a route that allows it. Runs before the response may become a 304. */
export function keepAnswer({ changesCursor, ignoredParameters }: OwnNames): onSendHookHandler {
  /** The headers that a route adds to its response. */
  const ofRoutes = ['content-type', 'link', changesCursor, ignoredParameters];
  return (request, reply, payload, done) => {
    if (request.shareResponse) {
      const isWhole = reply.statusCode === 200 && typeof payload === 'string';
      request.shareResponse(isWhole ? keep(reply, payload, ofRoutes) : null);
    }
    done(null, payload);
  };
}

/**
 * Gives every successful GET a strong ETag of its body alone, so it is the same for every key. Sends 304 to a client that
 * already has the body. RFC 9110 §8.8.3, §13.1.2.
 */
export const conditionalGet: onSendHookHandler = (request, reply, payload, done) => {
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (!isRead || reply.statusCode !== 200 || typeof payload !== 'string') return done(null, payload);
  const etag = String(reply.getHeader('etag') ?? strongTag(payload));
  reply.header('etag', etag);
  reply.header('cache-control', 'private, no-cache');
  const ifNoneMatch = request.headers['if-none-match'];
  if (ifNoneMatch === undefined || !isKnownTag(ifNoneMatch, etag)) return done(null, payload);
  reply.code(304).removeHeader('content-type').removeHeader('content-length');
  // Fastify itself removes the body of a HEAD, and fails if there is none.
  done(null, request.method === 'HEAD' ? payload : null);
};

function keep(reply: FastifyReply, body: string, names: readonly string[]): KeptResponse {
  const headers: Record<string, string> = { etag: strongTag(body) };
  reply.header('etag', headers.etag);
  for (const name of names) {
    const value = reply.getHeader(name);
    if (value !== undefined) headers[name] = String(value);
  }
  return { body, headers };
}

function send(reply: FastifyReply, { body, headers }: KeptResponse): void {
  reply.headers(headers).send(body);
}

function acceptsJson({ headers: { accept }, raw }: FastifyRequest): boolean {
  // The values that most clients send need no parser.
  if (accept === undefined || accept === '*/*' || accept === 'application/json') return true;
  return new Negotiator(raw).mediaType(JSON_TYPES) !== undefined;
}

/** Adds to the names that CORS has set. */
export function varyBy(reply: FastifyReply, name: string): void {
  const others = reply.getHeader('vary');
  reply.header('vary', others ? `${others}, ${name}` : name);
}

/** Lists the query parameters that an operation does not know: the contract allows no 400, and a typo must not stay hidden. */
export function nameIgnored(reply: FastifyReply, known: readonly string[] = []): void {
  const ignored = Object.keys(reply.request.query as object).filter((name) => !known.includes(name));
  if (ignored.length === 0) return;
  const names = ignored
    .slice(0, MOST_IGNORED)
    // By way of a buffer, because half of a character cannot be encoded.
    .map((name) => encodeURIComponent(Buffer.from(name.slice(0, NAME_LENGTH)).toString()));
  const shown = [...names, ...(ignored.length > MOST_IGNORED ? ['...'] : [])].join(', ');
  reply.header(reply.server.names.ignoredParameters, shown);
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
