import { randomUUID } from 'node:crypto';
import { createServer, METHODS, type RequestListener } from 'node:http';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
  type onRequestHookHandler,
  type onResponseHookHandler,
} from 'fastify';
import type { MayWrite } from '../../ground/kernel/caller.js';
import { AppError, MAY_BE_STORED } from '../../ground/kernel/errors.js';
import { routable } from './early-refusals.js';
import { logFault, replyWithError, toAppError } from './error-reply.js';
import { HTTP_LIMITS, type Reception } from './reception.js';

const BODY_BYTES = 100 * 1024;
/** A response must come within 5 s, whatever the database does. */
const ANSWER_MS = 4_500;
/** A write that begins with less than this left could be done after the 503. It covers a lock's wait, and that of D-39. */
const WRITE_MS = 1_000;

declare module 'fastify' {
  interface FastifyRequest {
    /** REST's operation id, or the name of a GraphQL operation; null = not known. */
    operation: string | null;
    /** `query` or `mutation`; null = the request has no known GraphQL operation. */
    operationType: string | null;
    /** The code of the answer's first error, as the client reads it; null = none. */
    errorCode: string | null;
    answerTimer: NodeJS.Timeout | undefined;
    /** The project whose host received the request: only its keys are accepted there. Null = a platform host, which accepts every key. */
    site: {
      readonly projectId: bigint | null;
      /** The origin at which the client reached the host; null = the platform's own address, from the settings. */
      readonly origin: string | null;
      /** The same path on the project's primary domain; null = the project has none, or this is it. D-119. */
      readonly canonicalUrl: string | null;
      /** Whether the host still belongs to the project. Null = it is the platform's own. */
      readonly isServed: (() => Promise<boolean>) | null;
    };
  }
}

/** The fields that the server and the doors set on a request, as they are before the door. */
export const UNANSWERED = {
  operation: null,
  operationType: null,
  errorCode: null,
  answerTimer: undefined,
};

/**
 * The HTTP server without its doors and hooks: limits, request ids, and errors from every layer in the gateway's format.
 * `guard` wraps the handler of all requests: it may answer them itself.
 */
export function createHttpServer(
  reception: Reception,
  guard: (handler: RequestListener) => RequestListener,
  trustedProxies: readonly string[],
  logger: FastifyBaseLogger,
): FastifyInstance {
  const app = Fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    genReqId: () => randomUUID(),
    bodyLimit: BODY_BYTES,
    return503OnClosing: false,
    serverFactory: (handler) =>
      reception.receive(createServer(HTTP_LIMITS), guard(handler as RequestListener)),
    // Every path that fits into a request line reaches its route.
    routerOptions: { maxParamLength: HTTP_LIMITS.maxHeaderSize },
    rewriteUrl: ({ url = '/' }) => routable(url),
    // `Reception` handles these, for every server.
    clientErrorHandler() {},
  });
  // Known methods reach the routes and get their 405; Node does not pass CONNECT on.
  const missing = METHODS.filter((name) => name !== 'CONNECT' && !app.supportedMethods.includes(name));
  for (const method of missing) app.addHttpMethod(method, { hasBody: true });
  // Only a project's bodies are bounded (`BodiesInFlight`), and a preflight has no key.
  app.addHttpMethod('OPTIONS', { hasBody: false, overrideExisting: true });
  // The doors that ask for a key accept bodies.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_, __, done) => done(null));
  app.setErrorHandler(replyWithError);
  return app;
}

/**
 * Sends a 503 if the handler, or the rest of the body, takes longer. Fastify's `handlerTimeout` also does this, but it
 * aborts an AbortController for each request, which captures a stack.
 */
export const startAnswerTimer: onRequestHookHandler = (request, reply, done) => {
  request.answerTimer = setTimeout(refuseLate, ANSWER_MS, reply).unref();
  done();
};

export const stopAnswerTimer: onResponseHookHandler = (request, _, done) => {
  clearTimeout(request.answerTimer);
  done();
};

/** Whether a write of this request may begin. */
export function mayWriteOf(reply: FastifyReply): MayWrite {
  const { raw } = reply;
  return () => !raw.writableEnded && !raw.destroyed && reply.elapsedTime < ANSWER_MS - WRITE_MS;
}

/** Sets the headers of every response. */
export const labelAnswer: onRequestHookHandler = (request, reply, done) => {
  reply.headers({ 'x-request-id': request.id, 'x-content-type-options': 'nosniff' });
  done();
};

/** Calls `done` once: when a stream is live, or at the end of any other answer. Most requests need no second listener. */
export function onWorkDone(
  { headers: { accept } }: Pick<FastifyRequest, 'headers'>,
  response: FastifyReply['raw'],
  done: (isLive: boolean) => void,
): void {
  const close = () => done(false);
  response.on('close', close);
  if (accept === undefined || !/event-stream|multipart/i.test(accept)) return;
  response.once('live', () => {
    response.off('close', close);
    done(true);
  });
}

function isRead({ method, operationType }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD' || operationType === 'query';
}

function refuseLate(reply: FastifyReply): void {
  // A client that has disconnected gets no response.
  if (reply.sent || reply.raw.destroyed) return;
  if (reply.raw.headersSent) {
    reply.raw.destroy();
    return;
  }
  const { request } = reply;
  // The rest of the body may still arrive; it must not be processed after this response.
  if (!request.raw.complete) reply.header('connection', 'close');
  reply.send(
    request.raw.complete
      ? new AppError(
          'unavailable',
          `The response took too long. ${isRead(request) ? 'Try again shortly.' : MAY_BE_STORED}`,
        )
      : new AppError('invalid_request', 'The request did not arrive in time.'),
  );
  // The handler ends after this reply. Fastify drops its answer and would warn of it; only a fault belongs in the log.
  request.log = Object.assign(Object.create(request.log), { warn() {} });
  const error = ({ err }: { err: unknown }) => logFault(request, toAppError(err));
  reply.log = Object.assign(Object.create(request.log), { error });
}
