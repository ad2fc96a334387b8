/** What texts, files and pages say about a book. Plain data without imports: the build of `browser/` reads it too. */
export const BOOK = {
  singular: 'book',
  plural: 'books',
  type: 'Book',
  withArticle: 'a book',
  icon: 'book',
  headline: 'A typed, metered API in front of a book shop',
  fields: [
    {
      name: 'title',
      label: 'Title',
      withArticle: 'a title',
      kind: 'text',
      isRequired: true,
      maxLength: 200,
      example: 'Emma',
    },
    {
      name: 'isbn',
      label: 'ISBN',
      withArticle: 'an ISBN',
      kind: 'text',
      isRequired: false,
      maxLength: 13,
      hint: 'Ten or thirteen digits. No other book has it.',
      example: '9780141439587',
    },
    {
      name: 'pages',
      label: 'Pages',
      withArticle: 'a number of pages',
      kind: 'integer',
      isRequired: true,
      example: '474',
    },
    {
      name: 'priceCents',
      label: 'Price in cents',
      withArticle: 'a price',
      kind: 'int64',
      isRequired: true,
      example: '1299',
    },
    {
      name: 'publishedOn',
      label: 'Published on',
      withArticle: 'a date',
      kind: 'date',
      isRequired: false,
      example: '1815-12-23',
    },
    {
      name: 'state',
      label: 'State',
      withArticle: 'a state',
      kind: 'choice',
      isRequired: false,
      choices: ['draft', 'published', 'withdrawn'],
      tones: ['busy', 'good', 'idle'],
      example: 'published',
    },
  ],
  filters: [
    { argument: 'isbn', field: 'isbn', match: 'whole' },
    { argument: 'state', field: 'state', match: 'whole' },
  ],
  hasCount: false,
  examples: [
    {
      task: 'List books',
      query: `query ListBooks($state: BookState, $after: String) {
  books(first: 10, state: $state, after: $after) {
    nodes { id title isbn pages priceCents publishedOn state }
    pageInfo { hasNextPage endCursor }
  }
}
`,
      variables: { state: 'published', after: null },
    },
    {
      task: 'Add a book',
      query: `mutation AddBook($book: NewBook!) {
  createBook(input: $book) { id title state }
}
`,
      variables: { book: { title: 'Emma', pages: 474, priceCents: '1299', state: 'draft' } },
    },
    {
      task: 'Change a book',
      query: `mutation ChangeBook($id: ID!, $changes: BookChanges!) {
  updateBook(id: $id, input: $changes) { id title state }
}
`,
      variables: { id: '<id of a book>', changes: { state: 'withdrawn' } },
    },
  ],
} as const;
