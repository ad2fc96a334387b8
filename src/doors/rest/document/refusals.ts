import { AppError, ERRORS, type ErrorCode, invalidRequest } from '../../../ground/kernel/errors.js';
import type { NounDescription } from '../../../nouns.js';
import { errorBody } from '../../../request/http/error-reply.js';
import type { ErrorExample, RestDocument } from '../rest-document.js';

const examplesOf = ({ singular, plural }: NounDescription): Partial<Record<ErrorCode, ErrorExample>> => ({
  invalid_request: 'The path has a "%" that encodes nothing.',
  unauthorized: 'The API key is missing or not valid. Send it as "Authorization: Bearer <API_KEY>".',
  forbidden: `This API key lacks the scope ${plural}:read. Use a key that has it.`,
  not_found: `There is no ${singular} 4711.`,
  not_acceptable: 'Answers here are application/json; change the Accept header.',
  conflict: 'A request with this Idempotency-Key is still running. Try again shortly.',
  precondition_failed: `The ${singular} 4711 was changed since: its ETag is not in If-Match. Read it again, then decide.`,
  payload_too_large: 'The body is larger than 100 KB.',
  unsupported_media_type: 'Send the body as application/json in UTF-8.',
  misdirected: 'This host is not served here.',
  idempotency_mismatch:
    'This Idempotency-Key was used with another payload. Use a new key for a new request.',
  rate_limited_minute:
    'The quota of this minute (UTC) is spent. Try again in 42 s, and back off exponentially.',
  rate_limited_day:
    'The quota of this day (UTC) is spent. Try again in 8 h 23 min, and back off exponentially.',
  key_banned:
    'This API key is temporarily banned, because it continued to send requests after a 429. Try again in 1 min, and back off exponentially.',
  internal: 'Something went wrong on our side. Quote the X-Request-Id when you report it.',
  unavailable: 'The database does not answer at the moment. Try again shortly.',
});

/** The examples of the gateway's own operations that differ from those of others. */
const OF_FILES = {
  rate_limited_minute:
    'An address may send 600 requests a minute (UTC) that need no API key. Try again in 42 s.',
};
const OWN: RestDocument['refusals'] = { getOpenApi: OF_FILES, getPostman: OF_FILES };

/** The Error body of a code as the operation sends it, with a summary for readers. `refusals` are those of all nouns. */
export function errorExample(
  noun: NounDescription,
  refusals: RestDocument['refusals'],
  operationId: string,
  code: ErrorCode,
) {
  const example = { ...OWN, ...refusals }[operationId]?.[code] ?? examplesOf(noun)[code] ?? '';
  const error = typeof example === 'string' ? new AppError(code, example) : invalidRequest(example);
  return { summary: ERRORS[code].when.replaceAll('`', ''), value: errorBody(error) };
}
