import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';
import { createTables, dropTables, int64, integer, primary, text } from './tables.js';

const BY_DIMENSION = [
  new Table({
    name: 'usage_by_dimension',
    withoutRowid: true,
    columns: [
      primary(int64('project_id')),
      primary(text('bucket', 8)),
      primary(text('dimension', 16)),
      primary(integer('bucket_number')),
      primary(text('name', 100)),
      int64('admitted'),
      int64('refused'),
      int64('failed'),
    ],
    indices: [{ name: 'usage_by_dimension_age', columnNames: ['bucket', 'bucket_number', 'project_id'] }],
  }),
];

const BY_DOOR = [
  new Table({
    name: 'usage_counts',
    withoutRowid: true,
    columns: [
      primary(int64('project_id')),
      primary(text('bucket', 8)),
      primary(integer('bucket_number')),
      primary(text('door', 8)),
      int64('admitted'),
      int64('refused'),
    ],
    indices: [{ name: 'usage_counts_age', columnNames: ['bucket', 'bucket_number', 'project_id'] }],
  }),
];

const INTO_DIMENSIONS =
  'INSERT INTO usage_by_dimension (project_id, bucket, dimension, bucket_number, name, admitted, refused, failed)';
const INTO_DOORS = 'INSERT INTO usage_counts (project_id, bucket, bucket_number, door, admitted, refused)';
/** Exact on every database: MySQL divides to decimals, SQLite to integers. */
const HOUR = '(bucket_number - bucket_number % 60) / 60';
/** The dimensions that old rows say nothing about. Their sums equal those of the doors. */
const UNKNOWN = ['key', 'operation', 'status'];

/** Counts usage by further dimensions, and by hour. */
export class UsageDimensions1770000007000 implements MigrationInterface {
  name = 'UsageDimensions1770000007000';
  readonly locks = {
    mysql:
      'The usage of older releases waits while its rows are copied, and is then not stored: their table is dropped.',
    sqlite: 'Writes wait while the rows of usage_counts are copied.',
  };

  async up(runner: QueryRunner): Promise<void> {
    await createTables(runner, BY_DIMENSION);
    const dimension = "CASE door WHEN 'manage' THEN 'payer' ELSE 'door' END";
    const name = "CASE door WHEN 'manage' THEN 'management' ELSE door END";
    await runner.query(
      `${INTO_DIMENSIONS} SELECT project_id, bucket, ${dimension}, bucket_number, ${name}, admitted, refused, 0
        FROM usage_counts`,
    );
    await runner.query(
      `${INTO_DIMENSIONS} SELECT project_id, 'hour', dimension, ${HOUR}, name, SUM(admitted), SUM(refused), 0
        FROM usage_by_dimension WHERE bucket = 'minute' GROUP BY project_id, dimension, ${HOUR}, name`,
    );
    for (const unknown of UNKNOWN) {
      await runner.query(
        `${INTO_DIMENSIONS} SELECT project_id, bucket, '${unknown}', bucket_number, 'other', SUM(admitted), SUM(refused), 0
          FROM usage_by_dimension WHERE dimension = 'door' GROUP BY project_id, bucket, bucket_number`,
      );
    }
    await dropTables(runner, BY_DOOR);
  }

  async down(runner: QueryRunner): Promise<void> {
    await createTables(runner, BY_DOOR);
    const door = "CASE dimension WHEN 'payer' THEN 'manage' ELSE name END";
    await runner.query(
      `${INTO_DOORS} SELECT project_id, bucket, bucket_number, ${door}, admitted, refused
        FROM usage_by_dimension WHERE bucket <> 'hour' AND dimension IN ('door', 'payer')`,
    );
    await dropTables(runner, BY_DIMENSION);
  }
}
