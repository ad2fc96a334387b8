import { RecordRules } from '../ground/kernel/record-rules.js';
import { NAME, type ObjectSchema } from '../ground/kernel/validation.js';
import { BOOK_STATES } from './book.description.js';
import type { BookState } from './book.entity.js';

export interface NewBook {
  title: string;
  isbn: string | null;
  pages: number;
  priceCents: bigint;
  publishedOn: string | null;
  state: BookState | null;
}

export type BookChanges = Partial<NewBook>;

const MAX_TITLE = 200;
const MAX_PAGES = 100_000;

export const stateSchema = {
  type: 'string',
  enum: BOOK_STATES,
  description: 'Whether the book can be bought.',
  examples: ['published'],
  rule: `must be one of ${BOOK_STATES.join(', ')}`,
} as const;

export const isbnSchema = {
  type: 'string',
  pattern: '^(\\d{9}[\\dX]|\\d{13})$',
  description: 'The ISBN without hyphens. No other book of the project has it.',
  examples: ['9780141439587'],
  rule: 'must be an ISBN of ten or thirteen digits, without hyphens',
} as const;

/** The schema of a new book, for both doors and the published documents. */
export const newBookSchema = {
  type: 'object',
  required: ['title', 'pages', 'priceCents'],
  properties: {
    title: {
      ...NAME,
      maxLength: MAX_TITLE,
      description: "The book's title. It must not be only blanks, nor contain NUL or a lone surrogate.",
      examples: ['Emma'],
      rule: `must be text of 1 to ${MAX_TITLE} characters, not only blanks`,
    },
    isbn: isbnSchema,
    pages: {
      type: 'integer',
      minimum: 1,
      maximum: MAX_PAGES,
      description: 'The number of its pages.',
      examples: [474],
      rule: `must be a whole number from 1 to ${MAX_PAGES}`,
    },
    priceCents: {
      type: 'integer',
      format: 'int64',
      minimum: 0,
      description: 'Its price in cents.',
      examples: [1299],
      rule: 'must be an integer from 0 to 9223372036854775807',
    },
    publishedOn: {
      type: 'string',
      format: 'date',
      description: 'The day of its publication.',
      examples: ['1815-12-23'],
      rule: 'must be a date such as 1815-12-23',
    },
    state: stateSchema,
  },
} as const satisfies ObjectSchema;

/** The rules of both doors and of files. */
export const BOOK_RULES = new RecordRules<NewBook>(newBookSchema);
