import { Table } from 'typeorm';
import { int64, integer, NewTables, optional, primary, text } from './tables.js';

/** Usage, and the log of requests that a project's owner reads. */
export class Usage1780000004000 extends NewTables {
  protected readonly tables = [
    new Table({
      name: 'usage_by_dimension',
      withoutRowid: true,
      columns: [
        primary(int64('project_id')),
        primary(text('bucket', 8)),
        primary(text('dimension', 16)),
        primary(integer('bucket_number')),
        primary(text('name', 100)),
        int64('admitted'),
        int64('refused'),
        int64('failed'),
        { ...int64('units'), default: 0 },
      ],
      indices: [{ name: 'usage_by_dimension_age', columnNames: ['bucket', 'bucket_number', 'project_id'] }],
    }),
    new Table({
      name: 'logged_requests',
      withoutRowid: true,
      columns: [
        primary(int64('project_id')),
        primary(int64('id')),
        int64('at_ms'),
        int64('key_id'),
        text('door', 8),
        text('operation', 100),
        integer('status'),
        optional(text('code', 64)),
        text('outcome', 8),
        integer('duration_us'),
        integer('units'),
        text('request_id', 64),
      ],
      indices: [{ name: 'logged_requests_age', columnNames: ['id', 'project_id'] }],
    }),
  ];
}
