import { Table } from 'typeorm';
import { int64, NewTables, optional, primary, text } from '../ground/migrations/tables.js';

/** Widgets, and the order of their lists. */
export class Widgets1790000000000 extends NewTables {
  protected readonly tables = [
    new Table({
      name: 'widgets',
      withoutRowid: true,
      columns: [
        primary(int64('project_id')),
        primary(int64('id')),
        text('name', 200),
        optional(text('state', 16)),
        int64('created_at_ms'),
      ],
      indices: [{ name: 'widgets_state', columnNames: ['project_id', 'state', 'id'] }],
    }),
  ];
}
