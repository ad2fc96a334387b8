import { invalidRequest } from '../errors.js';
import type { PetStatus } from '../pets/pet.entity.js';
import { PAGE_SIZE } from '../pets/pet.rules.js';
import type { PetListRequest } from '../pets/pet.store.js';
import { decodeCursor } from '../pets/pet-cursor.js';
import { validator } from '../validation.js';
import { listQuerySchema } from './schemas.js';

const problemsOf = validator(listQuerySchema);

/**
 * The parameters of listPets; unknown ones are ignored. Throws `AppError invalid_request` for a value that is repeated,
 * out of range or not what the schema says. Spec: listPets.
 */
export function parseListQuery(query: Record<string, unknown>): PetListRequest {
  const { limit, status, cursor } = query;
  const values: Record<string, unknown> = {};
  if (limit !== undefined) values.limit = wholeNumber(limit);
  if (status !== undefined) values.status = status;
  if (cursor !== undefined) values.cursor = cursor;
  const problems = problemsOf(values);
  const afterId = typeof cursor === 'string' ? decodeCursor(cursor) : null;
  if (cursor !== undefined && afterId === null && !problems.some(({ field }) => field === 'cursor')) {
    problems.push({ field: 'cursor', message: listQuerySchema.properties.cursor.rule });
  }
  if (problems.length > 0) throw invalidRequest(problems);
  return {
    pageSize: limit === undefined ? PAGE_SIZE.default : Number(limit),
    status: (status as PetStatus | undefined) ?? null,
    afterId,
  };
}

/** Digits only: `Number` would also read ` 20`, `1e2` and `0x14`. */
function wholeNumber(value: unknown): unknown {
  return typeof value === 'string' && /^(0|[1-9]\d{0,9})$/.test(value) ? Number(value) : value;
}
