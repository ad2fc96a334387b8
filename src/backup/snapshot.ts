import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { DataSource, QueryRunner } from 'typeorm';
import type { DatabaseTarget } from '../config/config.js';
import { createDataSource, type DatabaseSchema } from '../database/data-source.js';
import { requireNoUnfinishedRestore } from '../database/migrate.js';
import { AppError } from '../kernel/errors.js';
import { appliedMigrations, requireKnown } from '../migrations/plan/applied-migrations.js';
import type { BackupRow, BackupTable } from './backup-format.js';
import { RowPages } from './row-pages.js';
import { tablesOf } from './schema-tables.js';

const QUERY_TIMEOUT_MS = 60_000;
/** For each second of work, of this process and of the database, the backup rests two: the gateways go first. */
const REST_FOR_WORK = 2;

/** Reads the whole database as it was at one moment. Writers continue, and their later changes do not appear. */
export class Snapshot {
  private constructor(
    private readonly source: DataSource,
    private readonly runner: QueryRunner,
    /** The newest migration. */
    readonly schema: string,
  ) {}

  /** Throws `AppError` when the database is missing, half restored, or of another release. */
  static async open(target: DatabaseTarget, schema: DatabaseSchema): Promise<Snapshot> {
    // The driver would create the file.
    if (target.kind === 'sqlite' && !existsSync(target.path)) {
      throw new AppError('not_found', `There is no database at ${target.path}.`);
    }
    const settings = { poolSize: 1, queryTimeoutMs: QUERY_TIMEOUT_MS, exactIntegers: true };
    const source = await createDataSource(target, schema, settings);
    await source.initialize();
    try {
      const runner = source.createQueryRunner();
      for (const statement of BEGIN[target.kind]) await runner.query(statement);
      await requireNoUnfinishedRestore(runner);
      const applied = requireKnown(await appliedMigrations(runner), source);
      const newest = applied.at(-1);
      if (newest === undefined || applied.length < source.migrations.length) {
        throw new AppError(
          'conflict',
          'The database lacks the newest migrations. Run `petstore migrate` first, or use the release that serves it.',
        );
      }
      return new Snapshot(source, runner, newest);
    } catch (error) {
      await source.destroy();
      throw error;
    }
  }

  get tables(): BackupTable[] {
    return tablesOf(this.source);
  }

  /** The number of all rows. */
  async count(): Promise<number> {
    let rows = 0;
    for (const { tableName } of this.source.entityMetadatas) {
      await this.beginTable();
      const [row] = await this.runner.query(`SELECT COUNT(*) AS count FROM ${tableName}`);
      rows += Number(row.count);
      await this.endTable();
    }
    return rows;
  }

  /** All rows of a table, in the order of the primary key; memory is bounded by a page. */
  async *pages({ table }: BackupTable): AsyncGenerator<BackupRow[]> {
    const metadata = this.source.entityMetadatas.find(({ tableName }) => tableName === table);
    if (!metadata) throw new Error(`no table ${table}`);
    await this.beginTable();
    const pages = new RowPages(metadata, this.isMysql).read((sql, values) => this.runner.query(sql, values));
    let beganAtMs = performance.now();
    for await (const page of pages) {
      yield page;
      await pause((performance.now() - beganAtMs) * REST_FOR_WORK);
      beganAtMs = performance.now();
    }
    await this.endTable();
  }

  private async beginTable(): Promise<void> {
    if (this.isMysql) await this.runner.query('SAVEPOINT of_table');
  }

  /** Ends the lock on the table's definition. Otherwise a waiting ALTER TABLE would block all later reads of the table. */
  private async endTable(): Promise<void> {
    if (this.isMysql) await this.runner.query('ROLLBACK TO SAVEPOINT of_table');
  }

  private get isMysql(): boolean {
    return this.source.options.type !== 'better-sqlite3';
  }

  async close(): Promise<void> {
    await this.source.destroy();
  }
}

const MYSQL_BEGIN = [
  'SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ',
  'START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY',
];
/** In WAL mode a read transaction of SQLite sees one state, and blocks no writer. */
const BEGIN = { sqlite: ['BEGIN DEFERRED'], mysql: MYSQL_BEGIN, mariadb: MYSQL_BEGIN };
