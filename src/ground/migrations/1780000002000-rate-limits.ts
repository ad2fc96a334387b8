import { Table } from 'typeorm';
import { int64, integer, NewTables, primary, text } from './tables.js';

const TABLES = [
  new Table({
    name: 'rate_windows',
    withoutRowid: true,
    columns: [
      primary(text('subject', 64)),
      integer('minute_number'),
      integer('minute_used'),
      integer('day_number'),
      integer('day_used'),
    ],
    indices: [{ name: 'rate_windows_day', columnNames: ['day_number', 'subject'] }],
  }),
  new Table({
    name: 'key_bans',
    withoutRowid: true,
    columns: [
      primary(text('key_id', 64)),
      integer('strikes'),
      integer('ladder_step'),
      int64('quiet_since_ms'),
      int64('until_ms'),
      int64('refused_at_ms'),
      int64('retry_at_ms'),
      int64('meaningless_at_ms'),
      integer('is_lifted'),
    ],
    indices: [
      { name: 'key_bans_end', columnNames: ['meaningless_at_ms'] },
      { name: 'key_bans_lifted', columnNames: ['is_lifted'] },
    ],
  }),
];

/** Windows of the quotas, and bans of keys. */
export class RateLimits1780000002000 extends NewTables {
  readonly name = 'RateLimits1780000002000';
  protected readonly tables = TABLES;
}
