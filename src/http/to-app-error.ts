import { unavailableIfDatabaseAway } from '../database/database-errors.js';
import { AppError, type ErrorCode } from '../errors.js';

const OF_FASTIFY: Record<string, [ErrorCode, string]> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type', 'Send the body as application/json in UTF-8.'],
  FST_ERR_CTP_BODY_TOO_LARGE: ['payload_too_large', 'The body is larger than 100 KB.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    'invalid_request',
    'The body has another length than Content-Length says.',
  ],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['invalid_request', 'The body is empty.'],
  FST_ERR_BAD_URL: ['invalid_request', 'The path is not a valid URL path.'],
};

/** Any error as one that a client may see. What is unknown becomes `internal` and keeps the original as its cause. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const [code, message] = OF_FASTIFY[String((error as { code?: unknown } | null)?.code)] ?? [];
  if (code && message) return new AppError(code, message);
  if (isRefusal(error)) return new AppError('invalid_request', 'The request is not valid.', { cause: error });
  return (
    unavailableIfDatabaseAway(error) ??
    new AppError('internal', 'Something went wrong on our side. Quote the X-Request-Id when you report it.', {
      cause: error,
    })
  );
}

/** Fastify found fault with the request in a way that the table above does not name. */
function isRefusal(error: unknown): boolean {
  const { code, statusCode } = (error ?? {}) as { code?: unknown; statusCode?: unknown };
  return (
    String(code).startsWith('FST_') && typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500
  );
}
