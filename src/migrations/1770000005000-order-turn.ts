import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the row that a process locks while it counts orders. */
export class OrderTurn1770000005000 implements MigrationInterface {
  name = 'OrderTurn1770000005000';
  readonly locks = { mysql: null, sqlite: null };

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("INSERT INTO change_sequences (name, value) VALUES ('orders', 0)");
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("DELETE FROM change_sequences WHERE name = 'orders'");
  }
}
