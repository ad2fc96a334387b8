import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the client of a strike to the request log, without a copy of the table. */
export class Strikes1780000007000 implements MigrationInterface {
  readonly locks = { mysql: null, sqlite: null };

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE logged_requests ADD COLUMN strike_by varchar(200) NULL');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE logged_requests DROP COLUMN strike_by');
  }
}
