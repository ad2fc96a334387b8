import type { FastifyInstance, FastifyReply, onRequestHookHandler } from 'fastify';
import { strongTag } from '../http/entity-tag.js';
import { readerOf } from '../response-cache/reader.js';
import { Flight, type KeptResponse, type ResponseCache } from '../response-cache/response-cache.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A GET's answer depends on nothing but the URL, the project's pets and the scopes of the key, and may be kept. */
    isKept?: boolean;
  }
  interface FastifyRequest {
    flight: Flight | null;
  }
}

/** The headers that a route adds to its answer. */
const OWN_HEADERS = ['content-type', 'link'] as const;

/** Answers from memory where a route allows it and the data is known to be unchanged. After admission. */
export function keepResponses(app: FastifyInstance, cache: ResponseCache): void {
  app.decorateRequest('flight', null);
  const take: onRequestHookHandler = (request, reply, done) => {
    const reader = readerOf(request.caller, request.standing);
    if (reader === null) return done();
    const text = `${request.site.origin ?? ''}${request.url}`;
    const taken = cache.take(reader, text);
    if (taken instanceof Flight) {
      request.flight = taken;
      done();
    } else if (taken instanceof Promise) {
      taken.then((shared) => (shared ? send(reply, shared) : done()));
    } else {
      send(reply, taken);
    }
  };
  app.addHook('onRoute', (route) => {
    if (route.config?.isKept && route.method === 'GET')
      route.onRequest = [route.onRequest ?? [], take].flat();
  });
  // Before the answer may become a 304.
  app.addHook('onSend', (request, reply, payload, done) => {
    if (request.flight) {
      const isWhole = reply.statusCode === 200 && typeof payload === 'string';
      request.flight.land(isWhole ? keep(reply, payload) : null);
    }
    done(null, payload);
  });
}

function keep(reply: FastifyReply, body: string): KeptResponse {
  const headers: Record<string, string> = { etag: strongTag(body) };
  reply.header('etag', headers.etag);
  for (const name of OWN_HEADERS) {
    const value = reply.getHeader(name);
    if (value !== undefined) headers[name] = String(value);
  }
  return { body, headers };
}

function send(reply: FastifyReply, { body, headers }: KeptResponse): void {
  reply.headers(headers).send(body);
}
