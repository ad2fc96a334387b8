import { MAX_PAGE_SIZE, type ObjectSchema, pageSizeSchema } from '../../ground/kernel/validation.js';
import { CHANGE_KINDS } from '../../ground/records/change-log.entity.js';
import { CHANGES_CURSOR } from '../../request/http/headers.js';
import { PET } from '../pet.description.js';
import { newPetSchema, petStatusSchema } from '../pet.rules.js';

/** SPEC's resources as JSON Schema: Fastify serializes with them, and the OpenAPI document shows them. */
export const petSchema = {
  type: 'object',
  description: 'A pet.',
  required: ['id', 'name', 'categoryId'],
  properties: {
    id: {
      type: 'integer',
      format: 'int64',
      description: 'Unique identifier assigned on creation.',
      examples: [4711],
    },
    ...newPetSchema.properties,
  },
} as const;

export const petsSchema = { type: 'array', description: 'A page of pets.', items: petSchema } as const;

export const listQuerySchema = {
  type: 'object',
  properties: {
    limit: pageSizeSchema(PET.plural),
    status: { ...petStatusSchema, description: 'Filters by availability status.' },
    cursor: {
      type: 'string',
      minLength: 1,
      maxLength: 64,
      description: 'Start of the page, from the `Link` header of the previous page.',
      rule: 'must be a cursor from a Link header of this list',
    },
  },
} as const satisfies ObjectSchema;

/** Changes of pets: REST's form of GraphQL's `PetChange`. */
export const petChangesSchema = {
  type: 'array',
  description: 'Changes of pets, in the order of their commits.',
  items: {
    type: 'object',
    description: 'A change of a pet.',
    required: ['cursor', 'kind', 'at', 'pet'],
    properties: {
      cursor: { type: 'string', description: 'The position in the change log behind this change.' },
      kind: { type: 'string', enum: CHANGE_KINDS, description: 'What happened.' },
      at: { type: 'string', format: 'date-time', description: 'When it happened.' },
      pet: petSchema,
    },
  },
} as const;

export const changesQuerySchema = {
  type: 'object',
  properties: {
    limit: { ...pageSizeSchema('changes'), default: MAX_PAGE_SIZE },
    status: {
      ...petStatusSchema,
      description: 'Only changes of pets that have this status, or had it before the change.',
    },
    cursor: {
      ...listQuerySchema.properties.cursor,
      description: `Only changes behind this position: the cursor of a change, or \`${CHANGES_CURSOR}\` of a list.`,
      rule: 'must be a cursor of the change log',
    },
  },
} as const satisfies ObjectSchema;
