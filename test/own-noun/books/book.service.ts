import { isDuplicate, isDuplicateId } from '../ground/database/database-errors.js';
import { withDrawnIds } from '../ground/database/drawn-id.js';
import { type Caller, requireAnswerable, requireScope, type ServiceCall } from '../ground/kernel/caller.js';
import { AppError } from '../ground/kernel/errors.js';
import type { IdGenerator } from '../ground/kernel/ids.js';
import {
  type Complete,
  type Creation,
  creationCodec,
  ID_CODEC,
  type IdempotencyService,
  objectCodec,
} from '../tenants/idempotency/idempotency.service.js';
import { BOOK } from './book.description.js';
import type { Book } from './book.entity.js';
import type { BookChanges, NewBook } from './book.rules.js';
import type { BookStore } from './book.store.js';
import type { BookListRequest, BookPage } from './book-list.js';

/** Books of the caller's project. For the caller, books of other projects do not exist. */
export class BookService {
  constructor(
    private readonly store: BookStore,
    private readonly ids: IdGenerator,
    private readonly idempotency: IdempotencyService,
    private readonly now: () => number,
  ) {}

  /** Throws `AppError forbidden`. */
  async list({ caller }: ServiceCall, wanted: BookListRequest): Promise<BookPage> {
    requireScope(caller, 'books:read');
    return this.store.page(caller.projectId, wanted);
  }

  /** Throws `AppError forbidden`, `not_found`. */
  async get({ caller }: ServiceCall, id: bigint): Promise<Book> {
    requireScope(caller, 'books:read');
    return (await this.store.find(caller.projectId, id)) ?? refuseUnknown(id);
  }

  /** A repeated Idempotency-Key returns the first answer. Throws `AppError forbidden`, `conflict` for a taken ISBN. */
  async create(call: ServiceCall, book: NewBook): Promise<Book> {
    const [created] = await this.insert(call, 'createBook', [book]);
    return created as Book;
  }

  /** Creates all of the books or none, in their order. Throws as `create`. */
  createAll(call: ServiceCall, books: readonly NewBook[]): Promise<Book[]> {
    return this.insert(call, 'createBooks', books);
  }

  /**
   * `answered` are the fields of the answer. Without the scope `books:read`, only `id` and the fields of `changes` are
   * allowed. Throws `AppError forbidden`, `not_found`, `conflict` for a taken ISBN.
   */
  update(
    { caller, idempotencyKey }: ServiceCall,
    id: bigint,
    changes: BookChanges,
    answered: Iterable<string>,
  ): Promise<Book> {
    requireAnswerable(caller, BOOK.plural, { changes, fields: answered });
    requireScope(caller, 'books:write');
    return this.idempotency.once(
      { caller, key: idempotencyKey, operation: 'updateBook', input: [id, ...partsOf(changes)] },
      async (complete) =>
        (await refuseTakenIsbn(this.store.update(caller, id, changes, complete))) ?? refuseUnknown(id),
      objectCodec<Book>('projectId', 'id', 'priceCents'),
    );
  }

  /** Returns the id. Throws `AppError forbidden`, `not_found`. */
  delete({ caller, idempotencyKey }: ServiceCall, id: bigint): Promise<bigint> {
    requireScope(caller, 'books:write');
    return this.idempotency.once(
      { caller, key: idempotencyKey, operation: 'deleteBook', input: [id] },
      async (complete) => ((await this.store.delete(caller, id, complete)) ? id : refuseUnknown(id)),
      ID_CODEC,
    );
  }

  private insert(
    { caller, idempotencyKey }: ServiceCall,
    operation: string,
    books: readonly NewBook[],
  ): Promise<Book[]> {
    requireScope(caller, 'books:write');
    return this.idempotency.once(
      { caller, key: idempotencyKey, operation, input: books.flatMap(partsOf) },
      (complete) => refuseTakenIsbn(this.insertRows(caller, books, complete)),
      creationCodec((creation) => rowsOf(caller.projectId, books, creation)),
    );
  }

  private insertRows(
    caller: Caller,
    books: readonly NewBook[],
    complete: Complete<Book[]> | null,
  ): Promise<Book[]> {
    return withDrawnIds(this.ids, books.length, async (ids) => {
      const rows = rowsOf(caller.projectId, books, { ids, createdAtMs: this.now() });
      await this.store.insertAll(caller, rows, complete);
      return rows;
    });
  }
}

export function refuseUnknown(id: bigint): never {
  throw new AppError('not_found', `There is no book ${id}.`);
}

/** For Idempotency-Key: every field, with its name in a change. */
function partsOf(book: BookChanges): (string | bigint | null)[] {
  return Object.entries(book).flatMap(([name, value]) => [
    name,
    typeof value === 'number' ? BigInt(value) : value,
  ]);
}

function rowsOf(projectId: bigint, books: readonly NewBook[], { ids, createdAtMs }: Creation): Book[] {
  return books.map((book, at) => ({ projectId, id: ids[at] as bigint, ...book, createdAtMs }));
}

async function refuseTakenIsbn<T>(write: Promise<T>): Promise<T> {
  try {
    return await write;
  } catch (error) {
    if (!isDuplicate(error) || isDuplicateId(error)) throw error;
    throw new AppError(
      'conflict',
      'Another book of the project has this ISBN. Change that book, or use another ISBN.',
    );
  }
}
