import { Table } from 'typeorm';
import { exactCollation, NewTables } from '../../../src/ground/migrations/tables.js';
import { defineNoun } from '../../../src/noun/define-noun.js';
import { choice } from '../../../src/noun/kinds/choice.js';
import { date } from '../../../src/noun/kinds/date.js';
import { int64 } from '../../../src/noun/kinds/int64.js';
import { integer } from '../../../src/noun/kinds/integer.js';
import { text } from '../../../src/noun/kinds/text.js';
import type { NounFacts } from '../../../src/testing/noun-facts.js';

/** A noun with every kind of field and every option. */
export const books = defineNoun({
  name: 'book',
  icon: 'book',
  fields: {
    title: text({ max: 200, filter: 'start', example: 'Moby Dick' }),
    isbn: text({
      max: 13,
      pattern: /^(\d{9}[\dX]|\d{13})$/,
      rule: 'must be an ISBN of ten or thirteen digits',
      label: 'ISBN',
      article: 'an ISBN',
      optional: true,
      unique: true,
      filter: 'whole',
      example: '9780141439587',
    }),
    pages: integer({ min: 1, max: 100_000, example: 474 }),
    priceCents: int64({ min: 0n, example: 1299n }),
    publishedOn: date({ optional: true, example: '1851-10-18' }),
    state: choice(
      { draft: 'Not for sale.', published: 'For sale.', withdrawn: 'Not any more.' },
      { optional: true, filter: true },
    ),
    weightGrams: int64({ optional: true }),
    rating: integer({ min: 1, max: 5, default: 3 }),
    /** A word of SQL. */
    order: integer({ optional: true, filter: true }),
    binding: choice({ paper: 'Paperback.', cloth: 'Hardcover.' }, { default: 'paper', immutable: true }),
  },
  count: true,
  changes: true,
  migrations: async () => [Books1790000000000],
  check: ({ state, publishedOn }) =>
    state === 'published' && publishedOn !== null && publishedOn > '2100'
      ? [{ field: 'publishedOn', message: 'must not be in the future of a published book' }]
      : [],
});

/** Its table, as `petstore migrate --write` writes it. */
class Books1790000000000 extends NewTables {
  protected readonly tables = [new Table(books.table.table)];
  protected override readonly collation = exactCollation;
}

export const BOOKS: NounFacts = {
  noun: 'book',
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
    [{ state: 'published', publishedOn: '2100-01-01' }, ['publishedOn']],
  ],
};
