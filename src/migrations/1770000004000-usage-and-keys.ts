import {
  type MigrationInterface,
  type QueryRunner,
  Table,
  TableColumn,
  type TableColumnOptions,
  TableIndex,
} from 'typeorm';
import { createTables, dropTables } from './tables.js';

const count = (name: string): TableColumnOptions => ({ name, type: 'bigint' });
const label = (name: string): TableColumnOptions => ({ name, type: 'varchar', length: '8' });
const primary = (column: TableColumnOptions): TableColumnOptions => ({ ...column, isPrimary: true });

const TABLES = [
  new Table({
    name: 'usage_counts',
    withoutRowid: true,
    columns: [
      primary(count('project_id')),
      primary(label('bucket')),
      primary({ name: 'bucket_number', type: 'integer' }),
      primary(label('door')),
      count('admitted'),
      count('refused'),
    ],
    indices: [{ name: 'usage_counts_age', columnNames: ['bucket', 'bucket_number', 'project_id'] }],
  }),
];

const BY_PROJECT = new TableIndex({ name: 'api_keys_project', columnNames: ['project_id'] });
/** Finds a project's valid keys without reading its revoked ones. */
const BY_PROJECT_IN_FORCE = new TableIndex({
  name: 'api_keys_project',
  columnNames: ['project_id', 'revoked_at_ms'],
});

export class UsageAndKeys1770000004000 implements MigrationInterface {
  name = 'UsageAndKeys1770000004000';
  readonly locks = {
    mysql:
      'Statements on api_keys wait for a moment: the column is added without a copy. Writes continue while the index is built.',
    sqlite: 'Writes wait while api_keys is copied.',
  };

  async up(runner: QueryRunner): Promise<void> {
    await runner.addColumn(
      'api_keys',
      new TableColumn({ name: 'last_used_at_ms', type: 'bigint', isNullable: true }),
    );
    await runner.dropIndex('api_keys', 'api_keys_project');
    await runner.createIndex('api_keys', BY_PROJECT_IN_FORCE);
    await createTables(runner, TABLES);
  }

  async down(runner: QueryRunner): Promise<void> {
    await dropTables(runner, TABLES);
    await runner.dropIndex('api_keys', 'api_keys_project');
    await runner.createIndex('api_keys', BY_PROJECT);
    await runner.dropColumn('api_keys', 'last_used_at_ms');
  }
}
