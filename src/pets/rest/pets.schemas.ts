import { type ObjectSchema, pageSizeSchema } from '../../ground/kernel/validation.js';
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
