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
  ['Moby-Dick', '9780142437247', 720, 1499n, '1851-10-18', 'published'],
  ['Walden', null, 352, 799n, '1854-08-09', 'withdrawn'],
  ['Jane Eyre', '9780141441146', 624, 999n, '1847-10-16', 'published'],
  ['An unfinished novel', null, 120, 0n, null, 'draft'],
];
