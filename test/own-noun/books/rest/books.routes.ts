import type { FastifyInstance, FastifyRequest } from 'fastify';
import { linkPages, nameIgnored, wholeNumber } from '../../doors/rest/rest.hooks.js';
import { invalidRequest } from '../../ground/kernel/errors.js';
import { got } from '../../ground/kernel/got.js';
import { parseRecordId } from '../../ground/kernel/int64.js';
import { PAGE_SIZE, validator } from '../../ground/kernel/validation.js';
import { serviceCallOf } from '../../request/admission/admission.js';
import { restrictMethods } from '../../request/http/unrouted.js';
import { BOOK } from '../book.description.js';
import type { Book, BookState } from '../book.entity.js';
import { BOOK_RULES } from '../book.rules.js';
import type { BookService } from '../book.service.js';
import { type BookListRequest, cursorsOf } from '../book-list.js';
import { bookSchema, booksSchema, listQuerySchema } from './books.schemas.js';

const problemsOf = validator(listQuerySchema);

/** `baseUrl` returns the address of `/v1` as the client sees it. */
export function booksRoutes(
  app: FastifyInstance,
  books: BookService,
  baseUrl: (request: FastifyRequest) => string,
): void {
  const listUrl = (request: FastifyRequest) => `${baseUrl(request)}/books`;

  app.get<{ Querystring: Record<string, unknown> }>(
    '/books',
    { schema: { response: { 200: booksSchema } }, config: { operationId: 'listBooks', dataOf: BOOK.plural } },
    async (request, reply) => {
      const wanted = parseListQuery(request.query);
      const page = await books.list(serviceCallOf(request, reply), wanted);
      const last = page.hasNextPage ? page.books.at(-1) : undefined;
      const nextCursor = last ? cursorsOf(wanted).encode(last) : null;
      linkPages(request, reply, { url: listUrl(request), query: queryOf(wanted), nextCursor });
      nameIgnored(reply, Object.keys(listQuerySchema.properties));
      return page.books.map(present);
    },
  );

  const creating = { schema: { response: { 201: bookSchema } }, config: { operationId: 'createBook' } };
  app.post('/books', creating, async (request, reply) => {
    const book = await books.create(serviceCallOf(request, reply), BOOK_RULES.parse(request.body));
    nameIgnored(reply);
    return reply
      .code(201)
      .header('location', `${listUrl(request)}/${book.id}`)
      .send(present(book));
  });

  app.get<{ Params: { bookId: string } }>(
    '/books/:bookId',
    { schema: { response: { 200: bookSchema } }, config: { operationId: 'getBook' } },
    async (request, reply) => {
      const id = parseRecordId(request.params.bookId, BOOK.singular);
      const book = await books.get(serviceCallOf(request, reply), id);
      nameIgnored(reply);
      return present(book);
    },
  );

  restrictMethods(app, '/books', ['GET', 'POST']);
  restrictMethods(app, '/books/:bookId', ['GET']);
}

/** Throws `AppError invalid_request` for a parameter that is repeated, out of range or otherwise invalid. */
function parseListQuery(query: Record<string, unknown>): BookListRequest {
  const { limit, state, isbn, order = 'oldest', cursor } = query;
  const problems = problemsOf({ limit: wholeNumber(limit), state, isbn, order, cursor });
  const orderBy = order === 'newest' ? ('NEWEST' as const) : ('OLDEST' as const);
  const list = { state: (state as BookState) ?? null, isbn: (isbn as string) ?? null, orderBy };
  const after = typeof cursor === 'string' ? cursorsOf(list).decode(cursor) : null;
  if (cursor !== undefined && after === null && !problems.some(({ field }) => field === 'cursor')) {
    problems.push({ field: 'cursor', message: got(listQuerySchema.properties.cursor.rule, cursor) });
  }
  if (problems.length > 0) throw invalidRequest(problems);
  const pageSize = limit === undefined ? PAGE_SIZE.default : Number(limit);
  return { ...list, pageSize, afterId: after?.id ?? null };
}

function queryOf({ pageSize, state, isbn, orderBy }: BookListRequest): string {
  const filters = { ...(state && { state }), ...(isbn && { isbn }) };
  const order = orderBy === 'NEWEST' ? { order: 'newest' } : {};
  return new URLSearchParams({ limit: String(pageSize), ...filters, ...order }).toString();
}

/** A field that is not stated is left out. */
function present({ projectId: _, createdAtMs: __, ...book }: Book): object {
  return Object.fromEntries(Object.entries(book).filter(([, value]) => value !== null));
}
