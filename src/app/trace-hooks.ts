import type { onRequestHookHandler, onSendHookHandler, preHandlerHookHandler } from 'fastify';
import { isPage } from '../doors/graphql/negotiation.js';
import type { Tracing } from '../request/tracing/start-tracing.js';
import { methodOf, routeOf } from './answer-record.js';

/** The fields that tracing sets on a request, as they are before. */
export const UNTRACED = { trace: null, operationTrace: null };

/** Starts the span of each request that the sampler wants. Only a trusted proxy may name the trace. */
export function startTrace({ tracer, remoteSpanOf }: Tracing): onRequestHookHandler {
  return (request, reply, done) => {
    const work = tracer.startServer(remoteSpanOf(request.raw));
    if (work === null) return done();
    const { span } = work;
    const method = methodOf(request);
    const route = routeOf(request);
    span.updateName(`${method} ${route}`);
    span.setAttribute('http.request.method', method);
    span.setAttribute('http.route', route);
    span.setAttribute('url.scheme', request.protocol);
    request.trace = work;
    request.log = request.log.child(work.logFields);
    // After the answer, or when the client has disconnected.
    reply.raw.once('close', () => {
      const { headersSent, statusCode, writableFinished } = reply.raw;
      if (headersSent) span.setAttribute('http.response.status_code', statusCode);
      span.setAttribute(tracer.attributes.requestId, request.id);
      // A host that is not served may be any text.
      if (request.site) span.setAttribute('server.address', request.hostname);
      if (!writableFinished) span.setAttribute('error.type', 'disconnected');
      else if (statusCode >= 500) span.setAttribute('error.type', String(statusCode));
      tracer.endRoot(work);
    });
    tracer.enter(work, done);
  };
}

/** Something may have waited before, so the span of the request becomes the current one again. */
export function resumeTrace({ tracer }: Tracing): onRequestHookHandler {
  return (request, _, done) => (request.trace ? tracer.enter(request.trace, done) : done());
}

/** From here on the request may wait: for its body, which arrives in the context of the connection, and for the database. */
export function followTrace({ tracer }: Tracing): preHandlerHookHandler {
  return ({ trace: work, routeOptions }, _, done) => {
    if (work === null) done();
    // A list starts its only statement before it waits.
    else if (routeOptions.config.dataOf) tracer.enter(work, done);
    else tracer.follow(work, done);
  };
}

export function startOperationTrace({ tracer }: Tracing): preHandlerHookHandler {
  return (request, _, done) => {
    const work = request.trace && !isPage(request) ? tracer.startChild('GraphQL') : null;
    if (work === null) return done();
    request.operationTrace = work;
    tracer.follow(work, done);
  };
}

/** The operation is known now. Its document is never part of a span. */
export const endOperationTrace: onSendHookHandler = (request, _, payload, done) => {
  const { operationTrace: work, operation, operationType, errorCode } = request;
  if (work) {
    const { span } = work;
    if (operationType !== null) {
      span.updateName(operationType);
      span.setAttribute('graphql.operation.type', operationType);
    }
    if (operation !== null) span.setAttribute('graphql.operation.name', operation);
    if (errorCode !== null) span.setAttribute('error.type', errorCode);
    work.end();
  }
  done(null, payload);
};
