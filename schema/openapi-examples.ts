import type { Scope } from '../src/ground/kernel/caller.js';
import {
  AppError,
  ERRORS,
  type ErrorCode,
  type FieldProblem,
  invalidRequest,
} from '../src/ground/kernel/errors.js';
import { GET_PET_DEPRECATION, newPetSchema, pageSizeSchema, petStatusSchema } from '../src/pets/pet.rules.js';
import { errorBody } from '../src/request/http/error-reply.js';

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

/** The message of an error, or the problems of the fields in a 400. */
type ErrorExample = string | FieldProblem[];

const lacksScope = (scope: Scope) => `This API key lacks the scope ${scope}. Use a key that has it.`;

const ERROR_EXAMPLES: Partial<Record<ErrorCode, ErrorExample>> = {
  invalid_request: 'The path has a "%" that encodes nothing.',
  unauthorized: 'The API key is missing or not valid. Send it as "Authorization: Bearer <API_KEY>".',
  forbidden: lacksScope('pets:read'),
  not_found: 'There is no pet 4711.',
  not_acceptable: 'Answers here are application/json; change the Accept header.',
  conflict: 'A request with this Idempotency-Key is still running. Try again shortly.',
  gone: `Reading one pet was removed on ${GET_PET_DEPRECATION.sunsetDate}. Use GET /v1/pets with a status filter, or over GraphQL pets(ids: […]), which reads pets by their identifiers.`,
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
};

/** Examples that differ from those of other operations, by operation id and code. */
const OF_OPERATION: Record<string, Partial<Record<ErrorCode, ErrorExample>>> = {
  listPets: {
    invalid_request: [
      { field: 'limit', message: pageSizeSchema.rule },
      { field: 'status', message: petStatusSchema.rule },
    ],
  },
  createPet: {
    invalid_request: [
      { field: 'name', message: newPetSchema.properties.name.rule },
      { field: 'categoryId', message: newPetSchema.properties.categoryId.rule },
    ],
    forbidden: lacksScope('pets:write'),
  },
  getOpenApi: {
    rate_limited_minute:
      'An address may send 600 requests a minute (UTC) that need no API key. Try again in 42 s.',
  },
};

/** The Error body of a code as the operation sends it, with a summary for readers. */
export function errorExample(operationId: string, code: ErrorCode) {
  const example = OF_OPERATION[operationId]?.[code] ?? ERROR_EXAMPLES[code] ?? '';
  const error = typeof example === 'string' ? new AppError(code, example) : invalidRequest(example);
  return { summary: ERRORS[code].when.replaceAll('`', ''), value: errorBody(error) };
}
