import { LIST_ORDERS, type ObjectSchema, pageSizeSchema } from '../../ground/kernel/validation.js';
import { BOOK } from '../book.description.js';
import { isbnSchema, newBookSchema, stateSchema } from '../book.rules.js';

/** Fastify serializes with them, and the OpenAPI document shows them. */
export const bookSchema = {
  type: 'object',
  description: 'A book.',
  required: ['id', ...newBookSchema.required],
  properties: {
    id: { type: 'integer', format: 'int64', description: 'Assigned on creation.', examples: [4711] },
    ...newBookSchema.properties,
  },
} as const;

export const booksSchema = { type: 'array', description: 'A page of books.', items: bookSchema } as const;

export const listQuerySchema = {
  type: 'object',
  properties: {
    limit: pageSizeSchema(BOOK.plural),
    state: { ...stateSchema, description: 'Filters by state.' },
    isbn: { ...isbnSchema, description: 'Only the book with this ISBN.' },
    order: {
      type: 'string',
      enum: LIST_ORDERS.map((order) => order.toLowerCase()),
      description: 'Which books come first.',
      rule: 'must be oldest or newest',
    },
    cursor: {
      type: 'string',
      minLength: 1,
      maxLength: 100,
      description: 'Start of the page, from the `Link` header of the previous page.',
      rule: 'must be a cursor from a Link header of this list',
    },
  },
} as const satisfies ObjectSchema;
