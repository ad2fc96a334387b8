import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Counts the units of the plan, too. Older rows have none: nothing says what their requests spent. */
export class UsageUnits1770000010000 implements MigrationInterface {
  name = 'UsageUnits1770000010000';
  readonly locks = {
    mysql: 'Statements on usage_by_dimension wait for a moment: the column is added without a copy.',
    sqlite: null,
  };

  async up(runner: QueryRunner): Promise<void> {
    // TypeORM would copy the whole table on SQLite, and lose `WITHOUT ROWID`.
    await runner.query('ALTER TABLE usage_by_dimension ADD COLUMN units bigint NOT NULL DEFAULT 0');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE usage_by_dimension DROP COLUMN units');
  }
}
