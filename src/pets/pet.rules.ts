import type { Caller } from '../ground/kernel/caller.js';
import { AppError, type FieldProblem, invalidRequest } from '../ground/kernel/errors.js';
import { MAX_PAGE_SIZE, NAME, type ObjectSchema, validator } from '../ground/kernel/validation.js';
import { PET_STATUSES, type PetStatus } from './pet.entity.js';
import { MAX_IDS } from './pet-list.js';

export interface NewPet {
  name: string;
  categoryId: bigint;
  status: PetStatus | null;
}

export type PetChanges = Partial<NewPet>;

export const PAGE_SIZE = { minimum: 1, maximum: MAX_PAGE_SIZE, default: 20 } as const;

const name = {
  ...NAME,
  description: "The pet's name. It must not be only blanks.",
  examples: ['Rex'],
} as const;

const categoryIdSchema = {
  type: 'integer',
  format: 'int64',
  description: 'Identifier of the category the pet belongs to.',
  examples: [3],
  rule: 'must be an integer from -9223372036854775808 to 9223372036854775807',
} as const;

export const petStatusSchema = {
  type: 'string',
  enum: PET_STATUSES,
  description: 'Availability status.',
  examples: ['available'],
  rule: `must be one of ${PET_STATUSES.join(', ')}`,
} as const;

export const pageSizeSchema = {
  type: 'integer',
  ...PAGE_SIZE,
  description: 'Maximum number of pets returned.',
  rule: `must be a whole number from ${PAGE_SIZE.minimum} to ${PAGE_SIZE.maximum}`,
} as const;

/** The beginning of a name: unlike a name it may be only blanks. */
export const namePrefixSchema = {
  type: 'string',
  minLength: 1,
  maxLength: NAME.maxLength,
  pattern: '^[^\\u0000\\uD800-\\uDFFF]*$',
  rule: `must be text of 1 to ${NAME.maxLength} characters`,
} as const;

export const idsSchema = {
  type: 'array',
  maxItems: MAX_IDS,
  rule: `must be at most ${MAX_IDS} identifiers`,
} as const;

/** The schema of a new pet, for both doors and the published documents. Spec: NewPet. D-20. */
export const newPetSchema = {
  type: 'object',
  required: ['name', 'categoryId'],
  properties: { name, categoryId: categoryIdSchema, status: petStatusSchema },
} as const satisfies ObjectSchema;

const newPetProblems = validator(newPetSchema);
const petChangesProblems = validator({ ...newPetSchema, required: [] });

/** The known fields of an untrusted value, without all others. Throws `AppError invalid_request`. */
export function parseNewPet(input: unknown): NewPet {
  refuse(newPetProblems(input));
  return newPetIn(input);
}

/** As `parseNewPet`, for several pets. The problems name the position too, such as `inputs.17.name`. */
export function parseNewPets(inputs: readonly unknown[]): NewPet[] {
  const problems = inputs.map((input, at) =>
    newPetProblems(input).map(({ field, message }) => ({ field: `inputs.${at}.${field}`, message })),
  );
  refuse(problems.flat());
  return inputs.map(newPetIn);
}

function newPetIn(valid: unknown): NewPet {
  const { name, categoryId, status } = valid as {
    name: string;
    categoryId: bigint | number;
    status?: PetStatus;
  };
  return { name, categoryId: BigInt(categoryId), status: status ?? null };
}

/**
 * As `parseNewPet`, but each field is optional and at least one is required; `status: null` removes the status. Throws
 * `AppError invalid_request`.
 */
export function parsePetChanges(input: {
  name?: unknown;
  categoryId?: unknown;
  status?: unknown;
}): PetChanges {
  const { status, ...rest } = input;
  refuse(petChangesProblems(status === null ? rest : input));
  const changes: PetChanges = {};
  if (input.name !== undefined) changes.name = input.name as string;
  if (input.categoryId !== undefined) changes.categoryId = BigInt(input.categoryId as bigint);
  if (status !== undefined) changes.status = status as PetStatus | null;
  if (Object.keys(changes).length === 0) {
    throw invalidRequest([{ field: 'input', message: 'must have at least one field to change' }]);
  }
  return changes;
}

/**
 * Throws `AppError forbidden` when a caller without `pets:read` would see fields that it did not send. `fields` are the
 * fields of the answer. D-19.
 */
export function requireAnswerable(caller: Caller, changes: PetChanges, fields: Iterable<string>): void {
  if (caller.scopes.has('pets:read')) return;
  const hidden = [...fields].filter((field) => field !== 'id' && !(field in changes));
  if (hidden.length === 0) return;
  const message = `This API key lacks the scope pets:read, which the answer needs for ${hidden.join(', ')}. Request only id and the changed fields, or use a key that has the scope. Nothing was changed.`;
  throw new AppError('forbidden', message);
}

function refuse(problems: FieldProblem[]): void {
  if (problems.length > 0) throw invalidRequest(problems);
}

/** Spec: getPet, Versioning 2. The single source for REST's headers, OpenAPI, the GraphQL schema and the sunset. D-18. */
export const GET_PET_DEPRECATION = {
  deprecatedAtMs: Date.UTC(2025, 11, 5),
  sunsetAtMs: Date.UTC(2030, 11, 5),
  sunsetDate: '2030-12-05',
  graphqlReason: 'Removed on 2030-12-05. Use `pets(ids: […])`.',
} as const;
