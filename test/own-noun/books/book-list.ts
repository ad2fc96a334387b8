import { KeysetCursors } from '../ground/kernel/keyset-cursors.js';
import type { ListOrder } from '../ground/kernel/validation.js';
import { BOOK } from './book.description.js';
import type { Book, BookState } from './book.entity.js';

/** The books of a project that match every filter, ordered by id. */
export interface BookList {
  state: BookState | null;
  isbn: string | null;
  orderBy: ListOrder;
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
