import type { Noun } from '../noun.js';
import { seedBooks } from './book.demo.js';
import { BOOK } from './book.description.js';
import { Book } from './book.entity.js';
import { BOOK_RULES, type NewBook } from './book.rules.js';
import { BookService } from './book.service.js';
import { BookStore } from './book.store.js';
import { Books1790000000000 } from './books.migration.js';

/** Books, as the platform sees them. */
export const books: Noun = {
  description: BOOK,
  entities: [Book],
  migrations: [Books1790000000000],
  open({ db, ids, idempotency, versions, changes, now }) {
    const store = new BookStore(Book, db, versions, changes);
    const service = new BookService(store, ids, idempotency, now);
    return {
      service,
      files: {
        description: BOOK,
        entity: Book,
        parse: (input) => BOOK_RULES.parse(input),
        conflicts: (projectId, records) => store.conflicts(projectId, records as NewBook[]),
      },
      seedDemo: (call) => seedBooks(service, call),
      async openDoors() {
        const [{ BookResolver }, { booksRoutes }] = await Promise.all([
          import('./graphql/book.resolver.js'),
          import('./rest/books.routes.js'),
        ]);
        return {
          plural: BOOK.plural,
          resolver: new BookResolver(service),
          routes: (app, baseUrl) => booksRoutes(app, service, baseUrl),
        };
      },
    };
  },
  async contract() {
    const [{ BookResolver }, { BOOKS_DOCUMENT }] = await Promise.all([
      import('./graphql/book.resolver.js'),
      import('./rest/books.document.js'),
    ]);
    return { plural: BOOK.plural, resolver: BookResolver, rest: BOOKS_DOCUMENT };
  },
};
