import { Table } from 'typeorm';
import { int64, integer, long, NewTables, optional, primary, text } from './tables.js';

/** Projects, their keys, and what is kept of the requests that change something. */
export class Projects1780000000000 extends NewTables {
  protected readonly tables = [
    new Table({
      name: 'projects',
      columns: [
        primary(int64('id')),
        text('slug', 63),
        text('name', 255),
        text('plan', 16),
        optional(integer('per_minute')),
        optional(integer('per_day')),
        optional(int64('published_at_ms')),
        int64('created_at_ms'),
      ],
      indices: [{ name: 'projects_slug', columnNames: ['slug'], isUnique: true }],
    }),
    new Table({
      name: 'api_keys',
      columns: [
        primary(int64('id')),
        int64('project_id'),
        text('name', 255),
        text('prefix', 16),
        text('digest', 64),
        text('scopes', 255),
        int64('created_at_ms'),
        optional(int64('expires_at_ms')),
        optional(int64('revoked_at_ms')),
        optional(int64('successor_id')),
        { ...integer('rehearses'), default: 0 },
        optional(int64('last_used_at_ms')),
      ],
      indices: [
        // Finds a project's valid keys without reading its revoked ones.
        { name: 'api_keys_project', columnNames: ['project_id', 'revoked_at_ms'] },
        { name: 'api_keys_digest', columnNames: ['digest'], isUnique: true },
      ],
    }),
    new Table({
      name: 'idempotency_keys',
      withoutRowid: true,
      columns: [
        primary(int64('project_id')),
        primary(text('key_digest', 64)),
        text('fingerprint', 64),
        int64('locked_until_ms'),
        optional(long('result')),
        int64('expires_at_ms'),
      ],
      indices: [{ name: 'idempotency_keys_expiry', columnNames: ['expires_at_ms'] }],
    }),
    new Table({
      name: 'audit_events',
      columns: [
        primary(int64('id')),
        int64('at_ms'),
        text('actor', 255),
        text('action', 64),
        int64('project_id'),
        text('subject', 255),
        optional(text('request_id', 64)),
        optional(long('detail')),
      ],
      indices: [{ name: 'audit_events_project', columnNames: ['project_id', 'id'] }],
    }),
  ];
}
