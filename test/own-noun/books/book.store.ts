import { In, LessThan, MoreThan } from 'typeorm';
import type { Database } from '../ground/database/database.js';
import type { DataVersions } from '../ground/kernel/data-versions.js';
import type { ChangeFeeds } from '../ground/records/change-feed.js';
import { RecordTable } from '../ground/records/record-table.js';
import { Book } from './book.entity.js';
import type { BookListRequest, BookPage } from './book-list.js';

/** The table of books with its lists. */
export class BookStore extends RecordTable<Book> {
  constructor(db: Database, versions: DataVersions, changes: ChangeFeeds) {
    super(Book, db, versions, changes);
  }

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

  /** The ISBNs among these that books of the project have. */
  async takenIsbns(projectId: bigint, isbns: readonly string[]): Promise<Set<string>> {
    if (isbns.length === 0) return new Set();
    const found = await this.repository.findBy({ projectId, isbn: In([...isbns]) });
    return new Set(found.map(({ isbn }) => isbn as string));
  }
}
