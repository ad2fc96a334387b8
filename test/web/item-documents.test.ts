import { expect, test } from '@jest/globals';
import { buildSchema, type DocumentNode, Kind, parse, print, validate } from 'graphql';
import { documentsOf } from '../../browser/dashboard/src/items/item-documents.js';
import type { NounDescription } from '../../src/nouns.js';
import { toysSchema } from '../support/gateway/tested-gateway.js';
import { toys } from '../support/nouns/toys.js';

/** A noun with a field of each kind, as two of its filters, and without a count. */
const BOOK: NounDescription = {
  singular: 'book',
  plural: 'books',
  type: 'Book',
  withArticle: 'a book',
  headline: 'An API of books',
  fields: [
    {
      name: 'title',
      label: 'Title',
      withArticle: 'a title',
      kind: 'text',
      json: 'text',
      scalar: 'String',
      isRequired: true,
      example: 'Emma',
    },
    {
      name: 'isbn',
      label: 'ISBN',
      withArticle: 'an ISBN',
      kind: 'text',
      json: 'text',
      scalar: 'String',
      isRequired: false,
      example: '1',
    },
    {
      name: 'pages',
      label: 'Pages',
      withArticle: 'a number',
      kind: 'integer',
      json: 'integer',
      scalar: 'Int',
      isRequired: true,
      example: '9',
    },
    {
      name: 'priceCents',
      label: 'Price',
      withArticle: 'a price',
      kind: 'int64',
      json: 'integer',
      scalar: 'ID',
      isRequired: true,
      example: '9',
    },
    {
      name: 'publishedOn',
      label: 'Published',
      withArticle: 'a date',
      kind: 'date',
      json: 'text',
      scalar: 'String',
      isRequired: false,
      example: '1815-12-23',
    },
    {
      name: 'state',
      label: 'State',
      withArticle: 'a state',
      kind: 'choice',
      json: 'text',
      scalar: null,
      isRequired: true,
      choices: ['draft', 'published'],
      example: 'draft',
    },
  ],
  filters: [
    { argument: 'state', field: 'state', match: 'whole' },
    { argument: 'isbn', field: 'isbn', match: 'whole' },
  ],
  hasCount: false,
  examples: [],
};

const BOOK_SCHEMA = `
  type Query { books(first: Int = 20, after: String, state: BookState, isbn: String, orderBy: BookOrder): Books! }
  type Mutation {
    createBook(input: NewBook!): Book!
    createBooks(inputs: [NewBook!]!): [Book!]!
    updateBook(id: ID!, input: BookChanges!): Book!
    deleteBook(id: ID!): Book!
  }
  enum BookOrder { NEWEST OLDEST }
  enum BookState { draft published }
  type Books { nodes: [Book!]! pageInfo: PageInfo! }
  type PageInfo { endCursor: String hasNextPage: Boolean! }
  type Book {
    id: ID! title: String! isbn: String pages: Int! priceCents: ID! publishedOn: String state: BookState!
    createdAt: String!
  }
  input NewBook { title: String! isbn: String pages: Int! priceCents: ID! publishedOn: String state: BookState! }
  input BookChanges { title: String isbn: String pages: Int priceCents: ID publishedOn: String state: BookState }
`;

const documents = (noun: NounDescription) =>
  Object.values(documentsOf(noun)).filter((document): document is DocumentNode => document !== null);

test('Nouns-1: the operations that the dashboard makes for a noun fit the schema', async () => {
  const schema = await toysSchema();
  for (const noun of [toys.description]) {
    const made = documents(noun);
    expect(made.length).toBeGreaterThanOrEqual(6);
    for (const document of made)
      expect([print(document), validate(schema, document)]).toEqual([print(document), []]);
  }
});

test('Nouns-2: a noun without a count and with fields of every kind has its operations too', () => {
  const schema = buildSchema(BOOK_SCHEMA);
  expect(documentsOf(BOOK).count).toBeNull();
  const made = documents(BOOK);
  expect(made.flatMap((document) => validate(schema, document))).toEqual([]);
  const bare = documents({ ...BOOK, filters: [], hasCount: true })
    .map(print)
    .join('\n');
  expect(bare).toContain('count: bookCount\n');
  expect(parse(bare).definitions.every(({ kind }) => kind === Kind.OPERATION_DEFINITION)).toBe(true);
});
