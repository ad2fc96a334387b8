import type {
  FastifyBaseLogger,
  onRequestHookHandler,
  onSendHookHandler,
  preHandlerHookHandler,
} from 'fastify';
import { isPage } from '../graphql/negotiation.js';
import type { Span } from '../tracing/span.js';
import type { Tracing } from '../tracing/start-tracing.js';
import { methodOf, routeOf } from './answer-record.js';

/** The fields that tracing sets on a request, as they are before. */
export const UNTRACED = { trace: null, operationTrace: null };

/** Starts the span of each request that the sampler wants. Only a trusted proxy may name the trace. */
export function startTrace({ tracer, remoteSpanOf }: Tracing): onRequestHookHandler {
  return (request, reply, done) => {
    const span = tracer.startServer(remoteSpanOf(request.raw));
    if (span === null) return done();
    const method = methodOf(request);
    const route = routeOf(request);
    span.name = `${method} ${route}`;
    span.set('http.request.method', method);
    span.set('http.route', route);
    span.set('url.scheme', request.protocol);
    request.trace = span;
    request.log = logOf(request.log, span);
    // After the answer, or when the client has disconnected.
    reply.raw.once('close', () => {
      const { headersSent, statusCode, writableFinished } = reply.raw;
      if (headersSent) span.set('http.response.status_code', statusCode);
      span.set('petstore.request_id', request.id);
      // A host that is not served may be any text.
      if (request.site) span.set('server.address', request.hostname);
      if (!writableFinished) span.set('error.type', 'disconnected');
      else if (statusCode >= 500) span.set('error.type', String(statusCode));
      tracer.endRoot(span);
    });
    tracer.enter(span, done);
  };
}

/** Something may have waited before, so the span of the request becomes the current one again. */
export function resumeTrace({ tracer }: Tracing): onRequestHookHandler {
  return (request, _, done) => (request.trace ? tracer.enter(request.trace, done) : done());
}

/** From here on the request may wait: for its body, which arrives in the context of the connection, and for the database. */
export function followTrace({ tracer }: Tracing): preHandlerHookHandler {
  return (request, _, done) => (request.trace ? tracer.follow(request.trace, done) : done());
}

export function startOperationTrace({ tracer }: Tracing): preHandlerHookHandler {
  return (request, _, done) => {
    const span = request.trace && !isPage(request) ? tracer.startChild('GraphQL') : null;
    if (span === null) return done();
    request.operationTrace = span;
    tracer.follow(span, done);
  };
}

/** The operation is known now. Its document is never part of a span. */
export const endOperationTrace: onSendHookHandler = (request, _, payload, done) => {
  const { operationTrace: span, operation, operationType, errorCode } = request;
  if (span) {
    if (operationType !== null) {
      span.name = operationType;
      span.set('graphql.operation.type', operationType);
    }
    if (operation !== null) span.set('graphql.operation.name', operation);
    if (errorCode !== null) span.set('error.type', errorCode);
    span.end();
  }
  done(null, payload);
};

/** Most requests log only their answer, so the logger with the ids is made when something else is logged. */
function logOf(log: FastifyBaseLogger, { logFields }: Span): FastifyBaseLogger {
  let withIds: FastifyBaseLogger | null = null;
  return new Proxy(log, {
    get(_, name) {
      withIds ??= log.child(logFields);
      const member = Reflect.get(withIds, name);
      return typeof member === 'function' ? member.bind(withIds) : member;
    },
  });
}
