import type { QueryRunner } from 'typeorm';
import { NewTables } from './tables.js';

/** Adds the client of a strike to the request log, without a copy of the table. */
export class Strikes1780000007000 extends NewTables {
  /** No definition has the table that it changes. */
  protected readonly tables = [];

  override get declared() {
    return this.tables;
  }

  override async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE logged_requests ADD COLUMN strike_by varchar(200) NULL');
  }

  override async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE logged_requests DROP COLUMN strike_by');
  }
}
