import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ID, INTEGER, ProjectOwned, TIME_MS, text } from '../ground/database/columns.js';
import type { BOOK_STATES } from './book.description.js';

export type BookState = (typeof BOOK_STATES)[number];

/** A book of a project. The primary key begins with the project, so a list is one range of an index. */
@Entity('books', { withoutRowid: true })
@Index('books_state', ['projectId', 'state', 'id'])
@Index('books_isbn', ['projectId', 'isbn'], { unique: true })
export class Book extends ProjectOwned {
  @PrimaryColumn(ID)
  id!: bigint;

  @Column(text(200))
  title!: string;

  /** Unique in the project; null = it has none. */
  @Column({ ...text(13), nullable: true })
  isbn!: string | null;

  @Column(INTEGER)
  pages!: number;

  @Column({ ...ID, name: 'price_cents' })
  priceCents!: bigint;

  /** Such as `2026-11-24`; null = not known. */
  @Column({ ...text(10), name: 'published_on', nullable: true })
  publishedOn!: string | null;

  /** Null = not stated. */
  @Column({ ...text(16), nullable: true })
  state!: BookState | null;

  @Column({ ...TIME_MS, name: 'created_at_ms' })
  createdAtMs!: number;
}
