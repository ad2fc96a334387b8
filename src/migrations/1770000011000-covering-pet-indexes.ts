import type { MigrationInterface, QueryRunner } from 'typeorm';

const COLUMNS = {
  pets_status: { before: ['status', 'id'], after: ['status', 'id', 'name', 'category_id', 'created_at_ms'] },
  pets_name: { before: ['name', 'id'], after: ['name', 'id', 'category_id', 'status', 'created_at_ms'] },
  pets_status_name: {
    before: ['status', 'name', 'id'],
    after: ['status', 'name', 'id', 'category_id', 'created_at_ms'],
  },
};

/** The indexes of lists hold all columns of a pet, so that a page is one range of one index and reads no row of the table. */
export class CoveringPetIndexes1770000011000 implements MigrationInterface {
  name = 'CoveringPetIndexes1770000011000';
  readonly locks = {
    mysql: 'No statement waits for long while three indexes of pets are built.',
    sqlite: 'Writes wait while three indexes of pets are built.',
  };

  async up(runner: QueryRunner): Promise<void> {
    await replaceIndexes(runner, 'after');
  }

  async down(runner: QueryRunner): Promise<void> {
    await replaceIndexes(runner, 'before');
  }
}

async function replaceIndexes(runner: QueryRunner, version: 'before' | 'after'): Promise<void> {
  const indexes = Object.entries(COLUMNS).map(([name, columns]) => {
    return { name, columns: ['project_id', ...columns[version]].join(', ') };
  });
  if (runner.connection.options.type === 'better-sqlite3') {
    for (const { name, columns } of indexes) {
      await runner.query(`DROP INDEX ${name}`);
      await runner.query(`CREATE INDEX ${name} ON pets (${columns})`);
    }
    return;
  }
  // One statement: the previous release forces these indexes by name, so they must exist at any moment.
  const changes = indexes.map(({ name, columns }) => `DROP INDEX ${name}, ADD INDEX ${name} (${columns})`);
  await runner.query(`ALTER TABLE pets ${changes.join(', ')}`);
}
