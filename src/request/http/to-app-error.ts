import { unavailableIfDatabaseAway } from '../../ground/database/database-errors.js';
import { AppError, type ErrorCode } from '../../ground/kernel/errors.js';

const OF_FASTIFY: Record<string, [ErrorCode, string]> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type', 'Send the body as application/json in UTF-8.'],
  FST_ERR_CTP_BODY_TOO_LARGE: ['payload_too_large', 'The body is larger than 100 KB.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    'invalid_request',
    'The length of the body differs from Content-Length.',
  ],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['invalid_request', 'The body is empty.'],
  FST_ERR_BAD_URL: ['invalid_request', 'The path is not a valid URL path.'],
};

/** Converts any error to one for clients. An unknown error becomes `internal`, with the original as its cause. */
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

/** Fastify refused the request for a reason that is not in the table above. */
function isRefusal(error: unknown): boolean {
  const { code, statusCode } = (error ?? {}) as { code?: unknown; statusCode?: unknown };
  return (
    String(code).startsWith('FST_') && typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500
  );
}
