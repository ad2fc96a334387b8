import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../ground/kernel/errors.js';
import { toAppError } from './to-app-error.js';

/** The deadline for the response has passed. */
export class AnswerTooLate extends AppError {
  constructor() {
    super('unavailable', 'The response took too long. Try again shortly.', { retryAfterSeconds: 1 });
  }
}

/** SPEC's Error body, with the invalid fields of a 400. */
export function errorBody({ code, message, status, errors }: AppError) {
  return { code, message, status, ...(errors ? { errors } : {}) };
}

/** The headers of an error, the same at both doors. RFC 6750 §3, RFC 9110 §10.2.3. */
export function errorHeaders(error: AppError): Record<string, string> {
  return {
    'cache-control': 'no-store',
    ...(error.code === 'unauthorized' ? { 'www-authenticate': 'Bearer realm="petstore"' } : {}),
    ...(error.retryAfterSeconds === undefined ? {} : { 'retry-after': String(error.retryAfterSeconds) }),
  };
}

/** The error as the client of this request sees it. */
export function refusalOf(error: unknown, request: FastifyRequest, reply: FastifyReply): AppError {
  if (!(error instanceof AnswerTooLate) || request.raw.complete) return toAppError(error);
  // The rest of the body may still arrive; it must not be processed after this response.
  reply.header('connection', 'close');
  return new AppError('invalid_request', 'The request did not arrive in time.');
}

/** Sends an error in REST's form, and logs what the client must not see. */
export function replyWithError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const appError = refusalOf(error, request, reply);
  request.errorCode = appError.code;
  logFault(request, appError);
  return reply
    .code(appError.status)
    .headers(errorHeaders(appError))
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(errorBody(appError));
}

export function logFault({ log }: Pick<FastifyRequest, 'log'>, error: AppError): void {
  if (error.code === 'internal') log.error({ err: error.cause ?? error }, 'request failed');
  else if (error.code === 'unavailable') log.warn({ reason: String(error.cause ?? error) }, 'unavailable');
}
