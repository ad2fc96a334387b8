import { type MigrationInterface, type QueryRunner, Table, type TableColumnOptions } from 'typeorm';
import { createTables, dropTables } from './tables.js';

const id = (name: string): TableColumnOptions => ({ name, type: 'bigint' });
const text = (name: string, length: number): TableColumnOptions => ({
  name,
  type: 'varchar',
  length: String(length),
});
const optional = (column: TableColumnOptions): TableColumnOptions => ({ ...column, isNullable: true });
const primary = (column: TableColumnOptions): TableColumnOptions => ({ ...column, isPrimary: true });

const TABLES = [
  new Table({
    name: 'projects',
    columns: [
      primary(id('id')),
      text('slug', 63),
      text('name', 255),
      text('plan', 16),
      optional({ name: 'per_minute', type: 'integer' }),
      optional({ name: 'per_day', type: 'integer' }),
      optional(id('published_at_ms')),
      id('created_at_ms'),
    ],
    indices: [{ name: 'projects_slug', columnNames: ['slug'], isUnique: true }],
  }),
  new Table({
    name: 'api_keys',
    columns: [
      primary(id('id')),
      id('project_id'),
      text('name', 255),
      text('prefix', 16),
      text('digest', 64),
      text('scopes', 255),
      id('created_at_ms'),
      optional(id('expires_at_ms')),
      optional(id('revoked_at_ms')),
      optional(id('successor_id')),
    ],
    indices: [
      { name: 'api_keys_project', columnNames: ['project_id'] },
      { name: 'api_keys_digest', columnNames: ['digest'], isUnique: true },
    ],
  }),
  new Table({
    name: 'pets',
    withoutRowid: true,
    columns: [
      primary(id('project_id')),
      primary(id('id')),
      text('name', 255),
      id('category_id'),
      optional(text('status', 16)),
      id('created_at_ms'),
    ],
    indices: [{ name: 'pets_status', columnNames: ['project_id', 'status', 'id'] }],
  }),
  new Table({
    name: 'idempotency_keys',
    withoutRowid: true,
    columns: [
      primary(id('project_id')),
      primary(text('key_digest', 64)),
      text('fingerprint', 64),
      id('reserved_id'),
      id('locked_until_ms'),
      optional({ name: 'result', type: 'text' }),
      id('expires_at_ms'),
    ],
    indices: [{ name: 'idempotency_keys_expiry', columnNames: ['expires_at_ms'] }],
  }),
  new Table({
    name: 'audit_events',
    columns: [
      primary(id('id')),
      id('at_ms'),
      text('actor', 255),
      text('action', 64),
      id('project_id'),
      text('subject', 255),
      optional(text('request_id', 64)),
      optional({ name: 'detail', type: 'text' }),
    ],
    indices: [{ name: 'audit_events_project', columnNames: ['project_id', 'id'] }],
  }),
];

export class Initial1770000000000 implements MigrationInterface {
  name = 'Initial1770000000000';
  readonly locks = { mysql: null, sqlite: null };

  async up(runner: QueryRunner): Promise<void> {
    await createTables(runner, TABLES);
  }

  async down(runner: QueryRunner): Promise<void> {
    await dropTables(runner, TABLES);
  }
}
