import { BOOK } from '../../../src/books/book.description.js';
import type { TestNoun } from './test-noun.js';

export const BOOKS: TestNoun = {
  description: BOOK,
  input: (n) => ({ title: `Book ${n}`, pages: n + 1, priceCents: String(n) }),
  change: (n) => ({ title: `Changed ${n}` }),
  invalid: [
    [{ title: '' }, ['title']],
    [{ title: 'x'.repeat(201) }, ['title']],
    [{ pages: 0 }, ['pages']],
    [{ priceCents: '9223372036854775808' }, ['priceCents']],
    [{ priceCents: '-1' }, ['priceCents']],
    [{ isbn: '978-0141439587' }, ['isbn']],
    [{ publishedOn: '1815-13-23' }, ['publishedOn']],
    [{ publishedOn: '1815-02-30' }, ['publishedOn']],
    [{ title: ' ', pages: 100_001 }, ['pages', 'title']],
  ],
  int64: {
    field: 'priceCents',
    digits: ['9223372036854775807', '9007199254740993', '0'],
  },
  filter: { field: 'state', values: ['published', 'withdrawn'] },
  newestOverRest: 'order=newest',
  boundLists: () => [],
};
