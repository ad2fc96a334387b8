import type { ObjectSchema } from '../../ground/kernel/validation.js';
import { newPetSchema, pageSizeSchema, petStatusSchema } from '../../pets/pet.rules.js';

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
    limit: pageSizeSchema,
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

const windowSchema = {
  type: 'object',
  required: ['limit', 'remaining', 'resetAtSeconds'],
  properties: {
    limit: { type: 'integer', description: 'Requests that the plan allows in the window.' },
    remaining: { type: 'integer', description: 'Requests left in the window.' },
    resetAtSeconds: { type: 'integer', description: 'Unix timestamp at which the next window begins.' },
  },
} as const;

export const rateLimitSchema = {
  type: 'object',
  description: "Both windows of the project's quota, and the ban state of the API key.",
  required: ['minute', 'day', 'ban'],
  properties: {
    minute: { ...windowSchema, description: 'The UTC minute.' },
    day: { ...windowSchema, description: 'The UTC day.' },
    ban: {
      type: 'object',
      description:
        'Strikes are requests made after a 429 and before its Retry-After; the tenth bans the key.',
      required: ['strikes', 'untilSeconds', 'nextStepMinutes'],
      properties: {
        strikes: { type: 'integer' },
        untilSeconds: {
          type: ['integer', 'null'],
          description: 'Unix timestamp of the end; null = not banned.',
        },
        nextStepMinutes: { type: 'integer', description: 'Length of the next ban.' },
      },
    },
  },
} as const;
