import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';
import { createTables, dropTables, int64, integer, optional, primary, text } from './tables.js';

const TABLES = [
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
  new Table({
    name: 'requests_left_out',
    withoutRowid: true,
    columns: [primary(int64('project_id')), primary(integer('minute')), int64('left_out')],
    indices: [{ name: 'requests_left_out_age', columnNames: ['minute', 'project_id'] }],
  }),
];

/** Adds the log of requests that a project's owner reads. */
export class RequestLog1770000008000 implements MigrationInterface {
  name = 'RequestLog1770000008000';
  readonly locks = { mysql: null, sqlite: null };

  async up(runner: QueryRunner): Promise<void> {
    await createTables(runner, TABLES);
  }

  async down(runner: QueryRunner): Promise<void> {
    await dropTables(runner, TABLES);
  }
}
