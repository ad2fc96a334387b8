import { randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { unavailableIfDatabaseAway } from '../../ground/database/database-errors.js';
import { AppError, type ErrorCode } from '../../ground/kernel/errors.js';
import type { OwnNames } from './headers.js';

/** By Fastify, and by Node. */
const REFUSALS: Record<string, [ErrorCode, string]> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type', 'Send the body as application/json in UTF-8.'],
  FST_ERR_CTP_BODY_TOO_LARGE: ['payload_too_large', 'The body is larger than 100 KB.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    'invalid_request',
    'The length of the body differs from Content-Length.',
  ],
  // Only the log has it: the client has disconnected.
  ECONNRESET: ['invalid_request', 'The connection ended before the whole body had arrived.'],
};

/** SPEC's Error body, with the invalid fields of a 400. */
export function errorBody({ code, message, status, errors }: AppError) {
  return { code, message, status, errors };
}

/**
 * The headers of an error, the same at both doors. Without `names` for an error that is neither a 401 nor a strike. RFC 6750
 * §3, RFC 9110 §10.2.3.
 */
export function errorHeaders(error: AppError, names: OwnNames | null = null): Record<string, string> {
  return {
    'cache-control': 'no-store',
    ...(names && error.code === 'unauthorized' ? { 'www-authenticate': names.challenge } : {}),
    ...(error.retryAfterSeconds === undefined ? {} : { 'retry-after': String(error.retryAfterSeconds) }),
    ...(names && error.strikes !== undefined ? { [names.strikes]: String(error.strikes) } : {}),
    // Only if the coding is the reason. RFC 9110 §12.5.3.
    ...(error.acceptEncoding === undefined ? {} : { 'accept-encoding': error.acceptEncoding }),
  };
}

/** An error that Fastify does not send. The body is REST's, unless another is given. */
export function unhookedError(
  error: AppError,
  body = JSON.stringify(errorBody(error)),
  type = 'application/json',
) {
  const head = {
    'content-type': `${type}; charset=utf-8`,
    'content-length': String(Buffer.byteLength(body)),
    'x-content-type-options': 'nosniff',
    'x-request-id': randomUUID(),
    ...errorHeaders(error),
  };
  return { head, body };
}

/** Sends an error in REST's form, and logs what the client must not see. */
export function replyWithError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const appError = toAppError(error);
  request.errorCode = appError.code;
  logFault(request, appError);
  return reply
    .code(appError.status)
    .headers(errorHeaders(appError, request.server.names))
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(errorBody(appError));
}

export function logFault({ log }: Pick<FastifyRequest, 'log'>, error: AppError): void {
  if (error.code === 'internal') log.error({ err: error.cause ?? error }, 'request failed');
  else if (error.code === 'unavailable') log.warn({ reason: String(error.cause ?? error) }, 'unavailable');
}

/** Converts any error to one for clients. An unknown error becomes `internal`, with the original as its cause. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  // First: a lost connection to the database has the code of a client's.
  const away = unavailableIfDatabaseAway(error);
  if (away) return away;
  const { code, statusCode } = Object(error) as { code?: unknown; statusCode?: unknown };
  const [known, message] = REFUSALS[String(code)] ?? [];
  if (known && message) return new AppError(known, message);
  // Fastify refused the request for a reason that is not in the table.
  if (String(code).startsWith('FST_') && Number(statusCode) < 500)
    return new AppError('invalid_request', 'The request is not valid.', { cause: error });
  return new AppError(
    'internal',
    'Something went wrong on our side. Quote the X-Request-Id when you report it.',
    { cause: error },
  );
}
