import { Table } from 'typeorm';
import { int64, integer, NewTables, optional, primary, text } from '../ground/migrations/tables.js';

/** Books, and the orders of their lists. */
export class Books1790000000000 extends NewTables {
  protected readonly tables = [
    new Table({
      name: 'books',
      withoutRowid: true,
      columns: [
        primary(int64('project_id')),
        primary(int64('id')),
        text('title', 200),
        optional(text('isbn', 13)),
        integer('pages'),
        int64('price_cents'),
        optional(text('published_on', 10)),
        optional(text('state', 16)),
        int64('created_at_ms'),
      ],
      indices: [
        { name: 'books_state', columnNames: ['project_id', 'state', 'id'] },
        { name: 'books_isbn', columnNames: ['project_id', 'isbn'], isUnique: true },
      ],
    }),
  ];
}
