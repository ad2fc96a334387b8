import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, Directive, ID, Info, Mutation, Query, Resolver } from 'type-graphql';
import { Call, type Context, serviceCallOf } from '../../doors/graphql/execution/context.js';
import { MAX_INPUTS } from '../../doors/graphql/operations/measured-operation.js';
import { answeredFields } from '../../doors/graphql/operations/operation-size.js';
import { Entries } from '../../doors/graphql/operations/type-options.js';
import type { ServiceCall } from '../../ground/kernel/caller.js';
import { invalidRequest } from '../../ground/kernel/errors.js';
import { got } from '../../ground/kernel/got.js';
import { int64OrText, parseRecordId } from '../../ground/kernel/int64.js';
import { PAGE_SIZE, pageSizeSchema, validator } from '../../ground/kernel/validation.js';
import { BOOK } from '../book.description.js';
import { BOOK_RULES, isbnSchema } from '../book.rules.js';
import type { BookService } from '../book.service.js';
import { type BookListRequest, cursorsOf } from '../book-list.js';
import {
  BookChangesInput,
  BookConnectionType,
  BookListArgs,
  BookType,
  DeletedBookType,
  NewBookInput,
  presentBook,
  presentPage,
} from './book.type.js';

@Resolver(() => BookType)
export class BookResolver {
  constructor(private readonly service: BookService) {}

  @Directive('@cacheControl(maxAge: 0, scope: PRIVATE)')
  @Query(() => BookConnectionType, {
    description: 'Books of the project, oldest first unless `orderBy` says otherwise.',
  })
  async books(
    @Ctx() context: Context,
    @Args(() => BookListArgs) args: BookListArgs,
  ): Promise<BookConnectionType> {
    const wanted = parseListArgs(args);
    return presentPage(await this.service.list(serviceCallOf(context), wanted), wanted);
  }

  @Query(() => BookType, { nullable: true, description: 'A book of the project.' })
  async book(
    @Ctx() context: Context,
    @Arg('id', () => ID, { description: "The book's identifier." }) id: string,
  ): Promise<BookType> {
    return presentBook(await this.service.get(serviceCallOf(context), parseRecordId(id, BOOK.singular)));
  }

  @Directive('@rateLimit(max: 300, window: "1m")')
  @Mutation(() => BookType, {
    description: 'Adds a book. With an `Idempotency-Key` a repeated request creates nothing.',
  })
  async createBook(
    @Call() call: ServiceCall,
    @Arg('input', () => NewBookInput, { description: 'The book.' }) input: NewBookInput,
  ): Promise<BookType> {
    return presentBook(await this.service.create(call, BOOK_RULES.parse(stated(input))));
  }

  @Entries(MAX_INPUTS)
  @Directive('@rateLimit(max: 100, window: "1m")')
  @Mutation(() => [BookType], { description: `Adds 1 to ${MAX_INPUTS} books, all of them or none.` })
  async createBooks(
    @Call() call: ServiceCall,
    @Arg('inputs', () => [NewBookInput], { description: 'The books.' }) inputs: NewBookInput[],
  ): Promise<BookType[]> {
    return (await this.service.createAll(call, BOOK_RULES.parseAll(inputs.map(stated)))).map(presentBook);
  }

  @Directive('@rateLimit(max: 300, window: "1m")')
  @Mutation(() => BookType, { description: 'Changes a book; at least one field is required.' })
  async updateBook(
    @Call() call: ServiceCall,
    @Info() info: GraphQLResolveInfo,
    @Arg('id', () => ID, { description: "The book's identifier." }) id: string,
    @Arg('input', () => BookChangesInput, { description: 'The changes.' }) input: BookChangesInput,
  ): Promise<BookType> {
    const changes = BOOK_RULES.parseChanges(withInt64(input));
    return presentBook(
      await this.service.update(call, parseRecordId(id, BOOK.singular), changes, answeredFields(info)),
    );
  }

  @Directive('@rateLimit(max: 300, window: "1m")')
  @Mutation(() => DeletedBookType, { description: 'Deletes a book for good.' })
  async deleteBook(
    @Call() call: ServiceCall,
    @Arg('id', () => ID, { description: "The book's identifier." }) id: string,
  ): Promise<DeletedBookType> {
    return { id: String(await this.service.delete(call, parseRecordId(id, BOOK.singular))) };
  }
}

const problemsOf = validator({
  type: 'object',
  properties: { first: pageSizeSchema(BOOK.plural), isbn: isbnSchema },
});

/** Throws `AppError invalid_request` that names each invalid argument. */
function parseListArgs({ first, after, state, isbn, orderBy }: BookListArgs): BookListRequest {
  const list = { state: state ?? null, isbn: isbn ?? null, orderBy: orderBy ?? 'OLDEST' };
  const pageSize = first ?? PAGE_SIZE.default;
  const problems = problemsOf({ first: pageSize, ...(isbn ? { isbn } : {}) });
  const position = typeof after === 'string' ? cursorsOf(list).decode(after) : null;
  if (typeof after === 'string' && position === null) {
    problems.push({
      field: 'after',
      message: got('must be a cursor of this list, with the same order and filters', after),
    });
  }
  if (problems.length > 0) throw invalidRequest(problems);
  return { ...list, pageSize, afterId: position?.id ?? null };
}

/** For the rules: null states nothing. */
function stated(input: NewBookInput): object {
  return withInt64(Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null)));
}

function withInt64(input: { priceCents?: string | null }): Record<string, unknown> {
  const { priceCents } = input;
  return { ...input, ...(typeof priceCents === 'string' && { priceCents: int64OrText(priceCents) }) };
}
