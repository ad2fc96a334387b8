import { GraphQLDateTime } from 'graphql-scalars';
import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';
import {
  COUNTED_BY_FIRST,
  describedEnum,
  Entries,
  PlainType,
} from '../../doors/graphql/operations/type-options.js';
import { NodesPageInfo, PageInfoType } from '../../doors/graphql/schema/lists/page.js';
import { type ListOrder, PAGE_SIZE } from '../../ground/kernel/validation.js';
import type { Book, BookState } from '../book.entity.js';
import { type BookListRequest, type BookPage, cursorsOf } from '../book-list.js';

export const BookStateEnum = describedEnum<BookState>('BookState', 'Whether a book can be bought.', {
  draft: 'Not yet.',
  published: 'Yes.',
  withdrawn: 'Not any more.',
});

export const BookOrderEnum = describedEnum<ListOrder>('BookOrder', 'The order of a list of books.', {
  OLDEST: 'The book that was added first comes first.',
  NEWEST: 'The book that was added last comes first.',
});

/** The fields of a book that a client states. 64-bit integers are text of their digits. */
@InputType()
abstract class BookFields {
  @Field(() => String, { nullable: true, description: 'Its ISBN without hyphens; no other book has it.' })
  isbn?: string | null;

  @Field(() => String, { nullable: true, description: 'The day of its publication, such as `1815-12-23`.' })
  publishedOn?: string | null;

  @Field(() => BookStateEnum, { nullable: true, description: 'Whether it can be bought.' })
  state?: BookState | null;
}

@InputType('NewBook', { description: 'A book to create: `{title: "Emma", pages: 474, priceCents: "1299"}`.' })
export class NewBookInput extends BookFields {
  @Field(() => String, { description: 'Its title: 1 to 200 characters.' })
  title!: string;

  @Field(() => Int, { description: 'The number of its pages.' })
  pages!: number;

  @Field(() => ID, { description: 'Its price in cents: the digits of a 64-bit integer.' })
  priceCents!: string;
}

@InputType('BookChanges', { description: 'Changes to a book; a field left out stays: `{state: withdrawn}`.' })
export class BookChangesInput extends BookFields {
  @Field(() => String, { nullable: true, description: 'Its new title, never null.' })
  title?: string | null;

  @Field(() => Int, { nullable: true, description: 'Its new number of pages, never null.' })
  pages?: number | null;

  @Field(() => ID, { nullable: true, description: 'Its new price in cents, never null.' })
  priceCents?: string | null;
}

@PlainType('Book', 'A book.')
export class BookType {
  @Field(() => ID, { description: 'Unique identifier: the digits of a 64-bit integer.' })
  id!: string;

  @Field(() => String, { description: 'Its title.' })
  title!: string;

  @Field(() => String, { nullable: true, description: 'Its ISBN; null = it has none.' })
  isbn!: string | null;

  @Field(() => Int, { description: 'The number of its pages.' })
  pages!: number;

  @Field(() => ID, { description: 'Its price in cents: the digits of a 64-bit integer.' })
  priceCents!: string;

  @Field(() => String, { nullable: true, description: 'The day of its publication, such as `1815-12-23`.' })
  publishedOn!: string | null;

  @Field(() => BookStateEnum, { nullable: true, description: 'Whether it can be bought.' })
  state!: BookState | null;

  @Field(() => GraphQLDateTime, { description: 'When the book was added.' })
  createdAt!: Date;
}

@PlainType('BookEdge', 'A book and its position in the list.')
export class BookEdgeType {
  @Field(() => String, { description: 'The position of this book, for `after`.' })
  cursor!: string;

  @Field(() => BookType, { description: 'The book.' })
  node!: BookType;
}

@PlainType('BookConnection', 'A page of books, in the order of the list.')
export class BookConnectionType {
  @Entries(COUNTED_BY_FIRST)
  @Field(() => [BookEdgeType], { description: 'The books with their cursors.' })
  edges!: BookEdgeType[];

  @Entries(COUNTED_BY_FIRST)
  @Field(() => [BookType], { description: 'The books.' })
  nodes!: BookType[];

  @Field(() => PageInfoType, { description: 'The position of the page in the list.' })
  pageInfo!: PageInfoType;
}

@PlainType('DeletedBook', 'The result of `deleteBook`.')
export class DeletedBookType {
  @Field(() => ID, { description: 'The identifier that the book had; no other book gets it.' })
  id!: string;
}

@ArgsType()
export class BookListArgs {
  @Field(() => Int, { nullable: true, defaultValue: PAGE_SIZE.default, description: 'How many: 1 to 100.' })
  first?: number | null;

  @Field(() => String, { nullable: true, description: 'Only books after this cursor of the same list.' })
  after?: string | null;

  @Field(() => BookStateEnum, { nullable: true, description: 'Only books with this state.' })
  state?: BookState | null;

  @Field(() => String, { nullable: true, description: 'Only the book with this ISBN.' })
  isbn?: string | null;

  @Field(() => BookOrderEnum, { nullable: true, defaultValue: 'OLDEST', description: 'What comes first.' })
  orderBy?: ListOrder | null;
}

export function presentBook({ id, priceCents, createdAtMs, projectId: _, ...book }: Book): BookType {
  return { ...book, id: String(id), priceCents: String(priceCents), createdAt: new Date(createdAtMs) };
}

export function presentPage({ books, hasNextPage }: BookPage, list: BookListRequest): BookConnectionType {
  const cursors = cursorsOf(list);
  const edges = books.map((book) => ({ cursor: cursors.encode(book), node: presentBook(book) }));
  const pageInfo = new NodesPageInfo(edges, list.afterId !== null, hasNextPage);
  return { edges, nodes: edges.map(({ node }) => node), pageInfo };
}
