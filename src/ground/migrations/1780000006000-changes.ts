import { Table } from 'typeorm';
import { int64, integer, long, NewTables, optional, primary, text } from './tables.js';

/** The change log of each project. */
export class Changes1780000006000 extends NewTables {
  protected readonly tables = [
    new Table({
      name: 'change_logs',
      columns: [
        primary(int64('project_id')),
        int64('number'),
        int64('at_ms'),
        optional(int64('opens_at_ms')),
        optional(integer('most_streams')),
      ],
    }),
    new Table({
      name: 'changes',
      withoutRowid: true,
      columns: [
        primary(int64('project_id')),
        primary(int64('number')),
        int64('at_ms'),
        int64('previous_at_ms'),
        text('noun', 64),
        text('kind', 8),
        long('record'),
        optional(long('replaced')),
      ],
      indices: [{ name: 'changes_at', columnNames: ['at_ms'] }],
    }),
  ];
}
