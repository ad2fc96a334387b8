export const BOOK_STATES = ['draft', 'published', 'withdrawn'] as const;

/** The words about a book in texts, files and pages. Plain data without imports: the build of `browser/` reads it too. */
export const BOOK = {
  singular: 'book',
  plural: 'books',
  type: 'Book',
  withArticle: 'a book',
  icon: 'book',
  headline: 'A typed, metered API in front of a book shop',
  fields: [
    { name: 'title', label: 'Title', kind: 'text', isRequired: true, maxLength: 200, example: 'Emma' },
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
    { name: 'priceCents', label: 'Price in cents', kind: 'int64', isRequired: true, example: '1299' },
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
      kind: 'choice',
      isRequired: false,
      choices: BOOK_STATES,
      tones: ['busy', 'good', 'idle'],
      example: 'published',
    },
  ],
  filters: [
    { argument: 'isbn', field: 'isbn', match: 'whole' },
    { argument: 'state', field: 'state', match: 'whole' },
  ],
  hasCount: false,
} as const;
