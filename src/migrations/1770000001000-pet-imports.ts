import { type MigrationInterface, type QueryRunner, Table, type TableColumnOptions } from 'typeorm';
import { createTables, dropTables } from './tables.js';

const int64 = (name: string): TableColumnOptions => ({ name, type: 'bigint' });
const text = (name: string, length: number): TableColumnOptions => ({
  name,
  type: 'varchar',
  length: String(length),
});
const primary = (column: TableColumnOptions): TableColumnOptions => ({ ...column, isPrimary: true });

const TABLE = new Table({
  name: 'pet_imports',
  withoutRowid: true,
  columns: [
    primary(int64('project_id')),
    primary(text('path_digest', 64)),
    text('fingerprint', 64),
    text('run_id', 36),
    int64('line'),
    int64('position_bytes'),
    int64('imported'),
    int64('refused'),
    int64('report_bytes'),
    { name: 'report_path', type: 'text' },
    { ...int64('finished_at_ms'), isNullable: true },
  ],
});

export class PetImports1770000001000 implements MigrationInterface {
  name = 'PetImports1770000001000';
  readonly locks = { mysql: null, sqlite: null };

  async up(runner: QueryRunner): Promise<void> {
    await createTables(runner, [TABLE]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await dropTables(runner, [TABLE]);
  }
}
