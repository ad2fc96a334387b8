import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';
import { createTables, dropTables, int64, primary, text } from './tables.js';

const TABLE = new Table({
  name: 'imported_files',
  withoutRowid: true,
  columns: [
    primary(int64('project_id')),
    primary(text('fingerprint', 64)),
    int64('imported'),
    int64('finished_at_ms'),
  ],
});

/** Adds the contents that were imported completely. */
export class ImportedFiles1770000009000 implements MigrationInterface {
  name = 'ImportedFiles1770000009000';
  readonly locks = { mysql: null, sqlite: null };

  async up(runner: QueryRunner): Promise<void> {
    await createTables(runner, [TABLE]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await dropTables(runner, [TABLE]);
  }
}
