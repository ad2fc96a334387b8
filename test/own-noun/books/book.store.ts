import { In, LessThan, MoreThan } from 'typeorm';
import type { FieldProblem } from '../ground/kernel/errors.js';
import { RecordTable } from '../ground/records/record-table.js';
import type { Book } from './book.entity.js';
import type { NewBook } from './book.rules.js';
import type { BookListRequest, BookPage } from './book-list.js';

/** The table of books with its lists. */
export class BookStore extends RecordTable<Book> {
  /** A page of books: one range of an index, also for late pages. It reads one row more than the page has. */
  async page(projectId: bigint, list: BookListRequest): Promise<BookPage> {
    const { state, isbn, orderBy, pageSize, afterId } = list;
    const behind = orderBy === 'OLDEST' ? MoreThan : LessThan;
    const books = await this.repository.find({
      where: {
        projectId,
        ...(state === null ? {} : { state }),
        ...(isbn === null ? {} : { isbn }),
        ...(afterId === null ? {} : { id: behind(afterId) }),
      },
      order: { id: orderBy === 'OLDEST' ? 'ASC' : 'DESC' },
      take: pageSize + 1,
    });
    const hasNextPage = books.length > pageSize;
    return { books: books.slice(0, pageSize), hasNextPage };
  }

  /** The problem of each book with an ISBN that the project or a book before it has; null = none. */
  async conflicts(projectId: bigint, books: readonly NewBook[]): Promise<(FieldProblem | null)[]> {
    const isbns = books.map(({ isbn }) => isbn);
    const found = await this.repository.findBy({
      projectId,
      isbn: In(isbns.filter((isbn) => isbn !== null)),
    });
    const taken = new Set(found.map(({ isbn }) => isbn));
    return isbns.map((isbn, at) => {
      const isRepeated = isbn !== null && (taken.has(isbn) || isbns.indexOf(isbn) < at);
      return isRepeated ? { field: 'isbn', message: 'is that of another book' } : null;
    });
  }
}
