import { randomUUID } from 'node:crypto';
import { createServer, METHODS, type RequestListener } from 'node:http';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { AppError } from '../errors.js';
import { answerWithin } from './answer-deadline.js';
import { allowOrigins, isLocalOrigin } from './cors.js';
import { replyWithError } from './error-reply.js';
import { HTTP_LIMITS, type Reception } from './reception.js';
import { forwardedProblem, originForm, requestProblem, routable, targetProblem } from './request-guard.js';
import { RequestLog } from './request-log.js';

const BODY_BYTES = 100 * 1024;
/** A request is answered within 5 s, whatever the database does. */
const ANSWER_MS = 4_500;
const APOLLO_STUDIO = 'https://studio.apollographql.com';

declare module 'fastify' {
  interface FastifyRequest {
    /** The client sent it before it had the answer to its request before, on the same connection. */
    isPipelined: boolean;
  }
}

type Hook = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

export interface HttpSettings {
  corsOrigins: readonly string[];
  /** Pages of development servers on the reader's own machine may call as well. */
  allowsLocalOrigins: boolean;
  trustedProxies: readonly string[];
  /**
   * Decides what the host of a request stands for, before anything else looks at the request: may answer, may throw.
   * Returns nothing where no wait is needed.
   */
  enter: (...request: Parameters<Hook>) => ReturnType<Hook> | undefined;
  /** Adds what belongs on an answer that is given before the doors see the request; may refuse it otherwise. */
  onEarlyRefusal: Hook;
  reception: Reception;
  logger: FastifyBaseLogger;
}

/** The HTTP server without its doors: limits, request ids, the access log, CORS, and errors in our form from every layer. */
export function createHttpServer({
  corsOrigins,
  allowsLocalOrigins,
  trustedProxies,
  enter,
  onEarlyRefusal,
  reception,
  logger,
}: HttpSettings): FastifyInstance {
  const hasProxies = trustedProxies.length > 0;
  const app = Fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    trustProxy: hasProxies ? [...trustedProxies] : false,
    childLoggerFactory: (parent, bindings) => new RequestLog(parent, bindings) as FastifyBaseLogger,
    genReqId: () => randomUUID(),
    bodyLimit: BODY_BYTES,
    return503OnClosing: false,
    serverFactory: (handler) => reception.receive(createServer(HTTP_LIMITS), handler as RequestListener),
    // Whatever fits into a request line reaches its route and gets that route's answer.
    routerOptions: { maxParamLength: HTTP_LIMITS.maxHeaderSize },
    rewriteUrl: (request) => routable(originForm(request.url ?? '/', request.headers.host)),
    frameworkErrors: async (error, request, reply) => {
      reply.headers({ 'x-request-id': request.id, 'x-content-type-options': 'nosniff' });
      await refuse(error, request, reply);
      // The hooks do not run for these.
      logRequest(request, reply);
    },
    // Ours is below, for every server.
    clientErrorHandler() {},
  });
  // Known methods reach the routes and get their 405; Node keeps CONNECT from them.
  const missing = METHODS.filter((name) => name !== 'CONNECT' && !app.supportedMethods.includes(name));
  for (const method of missing) app.addHttpMethod(method, { hasBody: true });

  answerWithin(app, ANSWER_MS);
  app.decorateRequest('isPipelined', false);
  app.addHook('onRequest', (request, reply, done) => {
    request.isPipelined = reception.connections.isPipelined(reply.raw);
    reply.headers({ 'x-request-id': request.id, 'x-content-type-options': 'nosniff' });
    done();
  });
  const origins = new Set([APOLLO_STUDIO, ...corsOrigins]);
  allowOrigins(app, (origin) => origins.has(origin) || (allowsLocalOrigins && isLocalOrigin(origin)));
  const refuseEarly = async (problem: AppError, request: FastifyRequest, reply: FastifyReply) => {
    await onEarlyRefusal(request, reply);
    throw problem;
  };
  const guard: HttpSettings['enter'] = (request, reply) => {
    const ofHead = requestProblem(request.raw);
    // How the request was framed can't be trusted, so nothing behind it is read.
    if (ofHead) reply.header('connection', 'close');
    const problem = ofHead ?? (hasProxies ? forwardedProblem(request.host) : null);
    if (problem) return refuseEarly(problem, request, reply);
    const entering = enter(request, reply);
    const ofTarget = targetProblem(request.originalUrl);
    if (!ofTarget) return entering;
    return Promise.resolve(entering).then(() =>
      reply.sent ? undefined : refuseEarly(ofTarget, request, reply),
    );
  };
  const refuse = async (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
    try {
      await guard(request, reply);
      if (reply.sent) return;
      await onEarlyRefusal(request, reply);
      replyWithError(error, request, reply);
    } catch (refusal) {
      replyWithError(refusal, request, reply);
    }
  };
  const goOn = (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
    if (reply.sent) return;
    // RFC 9110 §9.3.7: this asks for the server as a whole. Fastify's router takes it for `/`.
    if (request.url === '*' && request.method === 'OPTIONS') reply.send();
    else done();
  };
  app.addHook('onRequest', (request, reply, done) => {
    const entering = guard(request, reply);
    if (entering) entering.then(() => goOn(request, reply, done), done);
    else goOn(request, reply, done);
  });
  app.addHook('onResponse', (request, reply, done) => {
    logRequest(request, reply);
    done();
  });
  app.setErrorHandler(replyWithError);
  return app;
}

function logRequest(request: FastifyRequest, reply: FastifyReply): void {
  const { caller, standing, paidBy } = request;
  request.server.log.info(
    {
      requestId: request.id,
      method: request.method,
      path: request.url.split('?', 1)[0],
      status: reply.statusCode,
      durationMs: Math.round(reply.elapsedTime * 10) / 10,
      // What is undefined is not written.
      projectId: caller ? String(caller.projectId) : undefined,
      keyId: caller ? String(caller.keyId) : undefined,
      paidBy: paidBy === 'plan' ? undefined : (paidBy ?? undefined),
      minuteLeft: standing?.minute.remaining,
      dayLeft: standing?.day?.remaining,
    },
    'request',
  );
}
