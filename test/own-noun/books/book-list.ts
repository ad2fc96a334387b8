import { KeysetCursors } from '../ground/kernel/keyset-cursors.js';
import { MAX_PAGE_SIZE } from '../ground/kernel/validation.js';
import { BOOK } from './book.description.js';
import type { Book, BookState } from './book.entity.js';

export const BOOK_ORDERS = ['OLDEST', 'NEWEST'] as const;
export type BookOrder = (typeof BOOK_ORDERS)[number];

export const PAGE_SIZE = { minimum: 1, maximum: MAX_PAGE_SIZE, default: 20 } as const;

export const pageSizeSchema = {
  type: 'integer',
  ...PAGE_SIZE,
  description: 'Maximum number of books returned.',
  rule: `must be a whole number from ${PAGE_SIZE.minimum} to ${PAGE_SIZE.maximum}`,
} as const;

/** The books of a project that match every filter, ordered by id. */
export interface BookList {
  state: BookState | null;
  isbn: string | null;
  orderBy: BookOrder;
}

export interface BookListRequest extends BookList {
  pageSize: number;
  /** The page begins behind this id; null = at the first book. */
  afterId: bigint | null;
}

export interface BookPage {
  books: Book[];
  hasNextPage: boolean;
}

/** The cursors of a list. No other list accepts them. */
export function cursorsOf({ state, isbn, orderBy }: BookList): KeysetCursors {
  return new KeysetCursors(BOOK, [orderBy, state, isbn]);
}
