import {
  type MigrationInterface,
  type QueryRunner,
  Table,
  TableColumn,
  type TableColumnOptions,
} from 'typeorm';
import { createTables, dropTables } from './tables.js';

const integer = (name: string): TableColumnOptions => ({ name, type: 'integer' });
const timeMs = (name: string): TableColumnOptions => ({ name, type: 'bigint' });
const key = (name: string): TableColumnOptions => ({ name, type: 'varchar', length: '64', isPrimary: true });

const TABLES = [
  new Table({
    name: 'rate_windows',
    withoutRowid: true,
    columns: [
      key('subject'),
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
      key('key_id'),
      integer('strikes'),
      integer('ladder_step'),
      timeMs('quiet_since_ms'),
      timeMs('until_ms'),
      timeMs('refused_at_ms'),
      timeMs('retry_at_ms'),
      timeMs('meaningless_at_ms'),
      integer('is_lifted'),
    ],
    indices: [
      { name: 'key_bans_end', columnNames: ['meaningless_at_ms'] },
      { name: 'key_bans_lifted', columnNames: ['is_lifted'] },
    ],
  }),
];

export class RateLimits1770000002000 implements MigrationInterface {
  name = 'RateLimits1770000002000';
  readonly locks = {
    mysql: 'Statements on api_keys wait for a moment: the column is added without a copy.',
    sqlite: 'Writes wait while api_keys is copied.',
  };

  async up(runner: QueryRunner): Promise<void> {
    await runner.addColumn('api_keys', new TableColumn({ name: 'rehearses', type: 'integer', default: 0 }));
    await createTables(runner, TABLES);
  }

  async down(runner: QueryRunner): Promise<void> {
    await dropTables(runner, TABLES);
    await runner.dropColumn('api_keys', 'rehearses');
  }
}
