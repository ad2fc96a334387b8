import { READ_HEADERS, type RestDocument } from '../../doors/rest/rest-document.js';
import { IGNORED_PARAMETERS, REPLAYED } from '../../request/http/headers.js';
import { newBookSchema, stateSchema } from '../book.rules.js';
import { pageSizeSchema } from '../book-list.js';
import { bookSchema, booksSchema, listQuerySchema } from './books.schemas.js';

const BOOK_HEADERS = [IGNORED_PARAMETERS, ...READ_HEADERS];
const LIST_HEADERS = ['Link', ...BOOK_HEADERS];
const { title, pages } = newBookSchema.properties;
const smallest = { title: 'Walden', pages: 352, priceCents: 799 };
const whole = {
  ...{ title: 'Emma', isbn: '9780141439587', pages: 474, priceCents: 1299 },
  ...{ publishedOn: '1815-12-23', state: 'published' },
};

/** The operations as the OpenAPI document shows them. */
export const BOOKS_DOCUMENT: RestDocument = {
  summary: 'Browse and manage books.',
  tag: { name: 'books', description: 'Books of the project that the API key belongs to.' },
  paths: {
    '/books': {
      get: {
        operationId: 'listBooks',
        summary: 'List all books',
        description: 'A page of books, oldest first unless `order` says otherwise.',
        scope: 'books:read',
        parameters: Object.entries(listQuerySchema.properties).map(([name, { description, ...schema }]) => ({
          ...{ name, in: 'query', required: false, description, schema },
        })),
        answers: {
          200: { description: 'A page of books.', headers: LIST_HEADERS, schema: 'Books' },
          304: { description: 'Not modified: the client has this page.', headers: LIST_HEADERS },
        },
      },
      post: {
        operationId: 'createBook',
        summary: 'Add a book',
        description:
          'With an `Idempotency-Key` the request can be repeated: only the first one creates a book.',
        scope: 'books:write',
        parameters: [],
        creates: 'NewBook',
        answers: {
          201: {
            description: 'The created book with its assigned `id`.',
            headers: ['Location', REPLAYED, IGNORED_PARAMETERS],
            schema: 'Book',
          },
        },
      },
    },
    '/books/{bookId}': {
      get: {
        operationId: 'getBook',
        summary: 'Get a book',
        description: 'A book of the project.',
        scope: 'books:read',
        parameters: [
          {
            ...{ name: 'bookId', in: 'path', required: true, description: 'The identifier of the book.' },
            schema: { type: 'integer', format: 'int64', examples: [4711] },
          },
        ],
        answers: {
          200: { description: 'The book.', headers: BOOK_HEADERS, schema: 'Book' },
          304: { description: 'Not modified: the client has this book.', headers: BOOK_HEADERS },
        },
        errors: ['not_found'],
      },
    },
  },
  schemas: {
    NewBook: { description: 'A book to create.', ...newBookSchema },
    Book: bookSchema,
    Books: { ...booksSchema, items: { $ref: '#/components/schemas/Book' } },
  },
  examples: {
    NewBook: {
      book: { summary: 'With every field', value: whole },
      smallest: { summary: 'With the required fields only', value: smallest },
    },
    Book: { book: { summary: 'A book', value: { id: 4711, ...whole } } },
    Books: {
      page: {
        summary: 'A page of two books',
        value: [
          { id: 4711, ...whole },
          { id: 4712, ...smallest },
        ],
      },
      empty: { summary: 'No book matches', value: [] },
    },
  },
  refusals: {
    listBooks: {
      invalid_request: [
        { field: 'limit', message: pageSizeSchema.rule },
        { field: 'state', message: stateSchema.rule },
      ],
    },
    createBook: {
      invalid_request: [
        { field: 'title', message: title.rule },
        { field: 'pages', message: pages.rule },
      ],
      forbidden: 'This API key lacks the scope books:write. Use a key that has it.',
    },
  },
};
