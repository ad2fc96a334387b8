import type { FastifyInstance } from 'fastify';
import { isKnownTag, strongTag } from '../http/entity-tag.js';

/**
 * Gives every successful GET a strong ETag of its body alone, the same for every key, and answers 304 to a client that
 * has it already. RFC 9110 §8.8.3, §13.1.2.
 */
export function conditionalGet(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (!isRead || reply.statusCode !== 200 || typeof payload !== 'string') return done(null, payload);
    const etag = String(reply.getHeader('etag') ?? strongTag(payload));
    reply.header('etag', etag);
    reply.header('cache-control', 'private, no-cache');
    if (!isKnownTag(request.headers['if-none-match'], etag)) return done(null, payload);
    reply.code(304).removeHeader('content-type').removeHeader('content-length');
    // The body of a HEAD is Fastify's to take away, which fails where there is none.
    done(null, request.method === 'HEAD' ? payload : null);
  });
}
