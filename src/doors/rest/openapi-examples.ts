import { ERRORS, type ErrorCode, type FieldProblem } from '../../ground/kernel/errors.js';
import { GET_PET_DEPRECATION } from '../../pets/pet.rules.js';

/** Bodies of requests and responses, by the schema that they fit. A test compares each with what the gateway sends. */
export const EXAMPLES = {
  NewPet: {
    pet: {
      summary: 'With every field',
      value: { name: 'Rex', categoryId: 3, status: 'available' },
    },
    smallest: { summary: 'With the required fields only', value: { name: 'Luna', categoryId: 7 } },
  },
  Pet: {
    pet: { summary: 'A pet', value: { id: 4711, name: 'Rex', categoryId: 3, status: 'available' } },
  },
  Pets: {
    page: {
      summary: 'A page of two pets; the second has no status',
      value: [
        { id: 4711, name: 'Rex', categoryId: 3, status: 'available' },
        { id: 4712, name: 'Luna', categoryId: 7 },
      ],
    },
    empty: { summary: 'No pet matches', value: [] },
  },
  RateLimit: {
    standing: {
      summary: 'The plan FREE after one request for pets',
      value: {
        minute: { limit: 60, remaining: 59, resetAtSeconds: 1764892860 },
        day: { limit: 1000, remaining: 999, resetAtSeconds: 1764979200 },
        ban: { strikes: 0, untilSeconds: null, nextStepMinutes: 1 },
      },
    },
  },
} as const;

interface ErrorExample {
  message: string;
  errors?: readonly FieldProblem[];
}

const ERROR_EXAMPLES: Partial<Record<ErrorCode, ErrorExample>> = {
  invalid_request: { message: 'The path has a "%" that encodes nothing.' },
  unauthorized: {
    message: 'The API key is missing or not valid. Send it as "Authorization: Bearer <API_KEY>".',
  },
  forbidden: { message: 'This API key lacks the scope pets:write. Use a key that has it.' },
  not_found: { message: 'There is no pet 4711.' },
  not_acceptable: { message: 'Answers here are application/json; change the Accept header.' },
  conflict: { message: 'A request with this Idempotency-Key is still running. Try again shortly.' },
  gone: {
    message: `Reading one pet was removed on ${GET_PET_DEPRECATION.sunsetDate}. Use GET /v1/pets with a status filter, or over GraphQL pets(ids: […]), which reads pets by their identifiers.`,
  },
  payload_too_large: { message: 'The body is larger than 100 KB.' },
  unsupported_media_type: { message: 'Send the body as application/json in UTF-8.' },
  misdirected: { message: 'This host is not served here.' },
  idempotency_mismatch: {
    message: 'This Idempotency-Key was used with another payload. Use a new key for a new request.',
  },
  rate_limited_minute: {
    message: 'The quota of this minute (UTC) is spent. Try again in 42 s, and back off exponentially.',
  },
  rate_limited_day: {
    message: 'The quota of this day (UTC) is spent. Try again in 8 h 23 min, and back off exponentially.',
  },
  key_banned: {
    message:
      'This API key is temporarily banned, because it continued to send requests after a 429. Try again in 1 min, and back off exponentially.',
  },
  internal: { message: 'Something went wrong on our side. Quote the X-Request-Id when you report it.' },
  unavailable: { message: 'The database does not answer at the moment. Try again shortly.' },
};

/** Examples that differ from those of other operations, by operation id and code. */
const OF_OPERATION: Record<string, Partial<Record<ErrorCode, ErrorExample>>> = {
  listPets: {
    invalid_request: invalid([
      { field: 'limit', message: 'must be a whole number from 1 to 100' },
      { field: 'status', message: 'must be one of available, pending, sold' },
    ]),
    forbidden: { message: 'This API key lacks the scope pets:read. Use a key that has it.' },
  },
  createPet: {
    invalid_request: invalid([
      { field: 'name', message: 'must be text of 1 to 255 characters, not only blanks' },
      { field: 'categoryId', message: 'must be an integer from -9223372036854775808 to 9223372036854775807' },
    ]),
  },
  getPet: { forbidden: { message: 'This API key lacks the scope pets:read. Use a key that has it.' } },
  getOpenApi: {
    rate_limited_minute: {
      message: 'An address may send 600 requests a minute (UTC) that need no API key. Try again in 42 s.',
    },
  },
};

/** The Error body of a code as the operation sends it, with a summary for readers. */
export function errorExample(operationId: string, code: ErrorCode) {
  const { message, errors } = OF_OPERATION[operationId]?.[code] ?? ERROR_EXAMPLES[code] ?? { message: '' };
  const { status, when } = ERRORS[code];
  return {
    summary: when.replaceAll('`', ''),
    value: { code, message, status, ...(errors ? { errors } : {}) },
  };
}

function invalid(errors: readonly FieldProblem[]): ErrorExample {
  return { message: errors.map(({ field, message }) => `${field} ${message}`).join('; '), errors };
}
