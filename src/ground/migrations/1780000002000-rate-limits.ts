import { Table } from 'typeorm';
import { int64, integer, long, NewTables, primary, text } from './tables.js';

/** Windows of the quotas, and bans of keys. */
export class RateLimits1780000002000 extends NewTables {
  protected readonly tables = [
    new Table({
      name: 'rate_counters',
      withoutRowid: true,
      columns: [primary(text('name', 64)), long('value'), int64('end_ms'), integer('is_lifted')],
      indices: [
        { name: 'rate_counters_end', columnNames: ['end_ms'] },
        { name: 'rate_counters_lifted', columnNames: ['is_lifted'] },
      ],
    }),
  ];
}
