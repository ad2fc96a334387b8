import type { NounFiles } from '../tenants/files/noun-files.js';
import { BOOK } from './book.description.js';
import { Book } from './book.entity.js';
import { BOOK_RULES, type NewBook } from './book.rules.js';
import type { BookStore } from './book.store.js';

/** The files of books, as the import and the export see them. */
export function bookFiles(store: BookStore): NounFiles {
  return {
    description: BOOK,
    entity: Book,
    parse: (input) => BOOK_RULES.parse(input),
    async page(projectId, page) {
      const { books, hasNextPage } = await store.page(projectId, { state: null, isbn: null, ...page });
      const records = books.map(({ id, title, isbn, pages, priceCents, publishedOn, state }) => ({
        ...{ id: String(id), title, isbn, pages: String(pages) },
        ...{ priceCents: String(priceCents), publishedOn, state },
      }));
      return { records, hasNextPage };
    },
    async conflicts(projectId, records) {
      const isbns = (records as NewBook[]).map(({ isbn }) => isbn);
      const taken = await store.takenIsbns(
        projectId,
        isbns.filter((isbn) => isbn !== null),
      );
      return isbns.map((isbn, at) => {
        const isRepeated = isbn !== null && (taken.has(isbn) || isbns.indexOf(isbn) < at);
        return isRepeated ? { field: 'isbn', message: 'is that of another book' } : null;
      });
    },
  };
}
