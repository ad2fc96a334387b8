import type { FastifyRequest, onRequestHookHandler, onSendHookHandler, preHandlerHookHandler } from 'fastify';
import { isPage } from '../graphql/is-page.js';
import type { Tracing } from '../tracing/start-tracing.js';
import { readTraceParent } from '../tracing/trace-parent.js';
import type { Scope } from '../tracing/tracer.js';
import { methodOf, routeOf, traceFields } from './answer-record.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The span of its GraphQL operation. */
    operationTrace: Scope | null;
  }
}

/** The fields that tracing sets on a request, as they are before. */
export const UNTRACED = { trace: null, operationTrace: null };

/** Starts the span of each request that the sampler wants. Only a trusted proxy may name the trace. */
export function startTrace({ tracer, isTrusted }: Tracing): onRequestHookHandler {
  return (request, reply, done) => {
    const { headers, socket } = request.raw;
    const remote = isTrusted(socket.remoteAddress) ? readTraceParent(headers.traceparent) : null;
    if (!tracer.records(remote)) return done();
    const method = methodOf(request);
    const route = routeOf(request);
    const scope = tracer.startServer(
      `${method} ${route}`,
      { 'http.request.method': method, 'http.route': route, 'url.scheme': request.protocol },
      remote,
    );
    request.trace = scope;
    addFieldsToLog(request, scope);
    // After the answer, or when the client has disconnected.
    reply.raw.once('close', () => {
      const { statusCode, writableFinished } = reply.raw;
      scope.span.setAttribute('http.response.status_code', statusCode);
      scope.span.setAttribute('petstore.request_id', request.id);
      // A host that is not served may be any text.
      if (request.site) scope.span.setAttribute('server.address', request.hostname);
      if (!writableFinished) scope.span.setAttribute('error.type', 'disconnected');
      else if (statusCode >= 500) scope.span.setAttribute('error.type', String(statusCode));
      tracer.endServer(scope);
    });
    tracer.run(scope, done);
  };
}

/** The body arrived in the context of its connection, so the request's span becomes the current one again. */
export function resumeTrace({ tracer }: Tracing): preHandlerHookHandler {
  return (request, _, done) => (request.trace ? tracer.run(request.trace, done) : done());
}

export function startOperationTrace({ tracer }: Tracing): preHandlerHookHandler {
  return (request, _, done) => {
    const scope = request.trace && !isPage(request) ? tracer.startChild('GraphQL') : null;
    if (scope === null) return done();
    request.operationTrace = scope;
    tracer.run(scope, done);
  };
}

/** The operation is known now. Its document is never part of a span. */
export const endOperationTrace: onSendHookHandler = (request, _, payload, done) => {
  const { operationTrace, operation, operationType, errorCode } = request;
  if (operationTrace) {
    const { span } = operationTrace;
    if (operationType !== null)
      span.updateName(operationType).setAttribute('graphql.operation.type', operationType);
    if (operation !== null) span.setAttribute('graphql.operation.name', operation);
    if (errorCode !== null) span.setAttribute('error.type', errorCode);
    span.end();
  }
  done(null, payload);
};

/** Most requests log only their answer, so a logger with the ids is made when something else is logged. */
function addFieldsToLog(request: FastifyRequest, scope: Scope): void {
  const { log } = request;
  Object.defineProperty(request, 'log', { get: () => log.child(traceFields(scope)) });
}
