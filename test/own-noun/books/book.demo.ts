import type { ServiceCall } from '../ground/kernel/caller.js';
import type { BookState } from './book.entity.js';
import type { BookService } from './book.service.js';

/** Creates the books of the demo project. */
export async function seedBooks(books: BookService, call: ServiceCall): Promise<void> {
  for (const [title, isbn, pages, priceCents, publishedOn, state] of BOOKS) {
    await books.create(call, { title, isbn, pages, priceCents, publishedOn, state });
  }
}

const BOOKS: readonly [string, string | null, number, bigint, string | null, BookState | null][] = [
  ['Emma', '9780141439587', 474, 899n, '1815-12-23', 'published'],
  ['Middlemarch', '9780141439549', 880, 1299n, '1871-12-01', 'published'],
  ['Walden', null, 352, 799n, '1854-08-09', 'withdrawn'],
  ['An unfinished novel', null, 120, 0n, null, 'draft'],
];
