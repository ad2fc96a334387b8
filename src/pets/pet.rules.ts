import { RecordRules } from '../ground/kernel/record-rules.js';
import { NAME, type ObjectSchema } from '../ground/kernel/validation.js';
import { PET_STATUSES, type Pet, type PetStatus } from './pet.entity.js';
import { MAX_IDS } from './pet-list.js';

export type NewPet = Pick<Pet, 'name' | 'categoryId' | 'status'>;

export type PetChanges = Partial<NewPet>;

const name = {
  ...NAME,
  description: "The pet's name. It must not be only blanks, nor contain NUL or a lone surrogate.",
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

/** The beginning of a name: unlike a name it may be only blanks. */
export const namePrefixSchema = {
  type: 'string',
  minLength: 1,
  maxLength: NAME.maxLength,
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

/** The rules of both doors and of files. */
export const PET_RULES = new RecordRules<NewPet>(newPetSchema);

/** Without a status, every pet has it. */
export function hasStatus(status: PetStatus | null | undefined): (pet: Pet) => boolean {
  return (pet) => status == null || pet.status === status;
}

/** Spec: getPet, Versioning 2. The single source for REST's headers, OpenAPI, the GraphQL schema and the sunset. D-18. */
export const GET_PET_DEPRECATION = {
  deprecatedAtMs: Date.UTC(2025, 11, 5),
  sunsetAtMs: Date.UTC(2030, 11, 5),
  sunsetDate: '2030-12-05',
  graphqlReason: 'Removed on 2030-12-05. Use `pets(ids: […])`.',
} as const;
