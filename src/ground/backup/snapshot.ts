import { existsSync } from 'node:fs';
import type { DataSource, EntityMetadata, ObjectLiteral, QueryRunner } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { DatabaseTarget } from '../config/config.js';
import { type DatabaseSchema, withDataSource } from '../database/data-source.js';
import { openProblem } from '../database/database-errors.js';
import { MYSQL, SQLITE, type SqlPart } from '../database/sql-dialect.js';
import { AppError } from '../kernel/errors.js';
import { requireNoUnfinishedCopy } from '../migrating/migrate.js';
import { appliedMigrations } from '../migrating/migration-plan.js';

/** To count the rows of a large table takes long. */
const SETTINGS = { poolSize: 1, queryTimeoutMs: 600_000 };
const PAGE_ROWS = 1_000;
/** A `text` column has up to 64 KB. */
const PAGE_ROWS_WITH_LONG_TEXT = 50;

/**
 * Calls `work` with the database as it is at this moment. Throws `AppError` when the database is missing, half copied, or of
 * another release.
 */
export async function withSnapshot<T>(
  target: DatabaseTarget,
  schema: DatabaseSchema,
  work: (snapshot: Snapshot) => Promise<T>,
): Promise<T> {
  // The driver would create the file.
  if (target.kind === 'sqlite' && !existsSync(target.path)) {
    throw new AppError('not_found', `There is no database at ${target.path}.`);
  }
  return withDataSource(target, schema, SETTINGS, async (source) => {
    const runner = source.createQueryRunner();
    for (const statement of BEGIN[target.kind]) await runner.query(statement);
    await requireNewest(runner, source.migrations);
    return work(new Snapshot(target, source, runner));
  }).catch((error) => unreadable(target, error));
}

async function requireNewest(runner: QueryRunner, known: readonly object[]): Promise<void> {
  const queries = { query: (sql: string) => runner.query(sql) };
  await requireNoUnfinishedCopy(queries);
  const applied = await appliedMigrations(queries, known);
  if (applied.length === known.length) return;
  throw new AppError(
    'conflict',
    'The database lacks the newest migrations. Run `petstore migrate` on it first, or use the release that serves it.',
  );
}

/** Reads the whole database as it was at one moment. Writers continue, and their later changes do not appear. D-201. */
export class Snapshot {
  constructor(
    private readonly target: DatabaseTarget,
    private readonly source: DataSource,
    private readonly runner: QueryRunner,
  ) {}

  get tables(): EntityMetadata[] {
    return this.source.entityMetadatas;
  }

  async counts(): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const { tableName } of this.tables) {
      await this.beginTable();
      const [{ count }] = await this.query(`SELECT COUNT(*) AS count FROM ${tableName}`);
      counts[tableName] = Number(count);
      await this.endTable();
    }
    return counts;
  }

  /** All rows of a table by primary key, in the driver's values under the names of the entity's properties. */
  async *pages(table: EntityMetadata): AsyncGenerator<ObjectLiteral[]> {
    const pageRows = table.columns.some(({ type }) => type === 'text') ? PAGE_ROWS_WITH_LONG_TEXT : PAGE_ROWS;
    await this.beginTable();
    for (let last: ObjectLiteral | undefined; ; ) {
      const { sql, values } = this.page(table, last, pageRows);
      const rows = await this.query(sql, values);
      if (rows.length > 0) yield rows;
      if (rows.length < pageRows) break;
      last = rows.at(-1);
    }
    await this.endTable();
  }

  /** Each page begins behind the primary key of the last row: page 1,000 costs as much as page 1. */
  private page(
    { columns, primaryColumns, tableName }: EntityMetadata,
    last: ObjectLiteral | undefined,
    pageRows: number,
  ): SqlPart {
    const quoted = (name: string) => this.source.driver.escape(name);
    const selected = columns.map(
      ({ databaseName, propertyName }) => `${quoted(databaseName)} AS ${quoted(propertyName)}`,
    );
    // Without the index MySQL may begin at the first row of the table for every page.
    const isSqlite = this.target.kind === 'sqlite';
    const from = isSqlite ? tableName : `${tableName} ${MYSQL.forceIndex('PRIMARY')}`;
    const keys = primaryColumns.map(({ databaseName }) => `${tableName}.${quoted(databaseName)}`);
    const dialect = isSqlite ? SQLITE : MYSQL;
    const position = last && primaryColumns.map((column) => keyOf(column, last));
    const behind = position ? dialect.behind(keys, '>', position) : { sql: 'TRUE', values: [] };
    return {
      sql: `SELECT ${selected.join(', ')} FROM ${from} WHERE ${behind.sql} ORDER BY ${keys.join(', ')} LIMIT ${pageRows}`,
      values: behind.values,
    };
  }

  private beginTable(): Promise<unknown> {
    return this.query('SAVEPOINT of_table');
  }

  /** On MySQL it ends the lock on the table's definition: a waiting ALTER TABLE would block all later reads of the table. */
  private endTable(): Promise<unknown> {
    return this.query('ROLLBACK TO SAVEPOINT of_table');
  }

  // biome-ignore lint/suspicious/noExplicitAny: rows have many shapes.
  private query(sql: string, values: readonly unknown[] = []): Promise<any[]> {
    return this.runner.query(sql, [...values]).catch((error) => unreadable(this.target, error));
  }
}

const MYSQL_BEGIN = [
  'SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ',
  'START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY',
];
/** In WAL mode a read transaction of SQLite sees one state, and blocks no writer. */
const BEGIN = { sqlite: ['BEGIN DEFERRED'], mysql: MYSQL_BEGIN, mariadb: MYSQL_BEGIN };

/** MySQL's driver returns a 64-bit integer as text. MySQL would compare it with the column as text or as a double. */
function keyOf({ type, propertyName }: ColumnMetadata, row: ObjectLiteral): unknown {
  const value = row[propertyName];
  return type === 'bigint' ? BigInt(value) : value;
}

/** The error for people. */
export function unreadable(target: DatabaseTarget, error: unknown): never {
  if (error instanceof AppError) throw error;
  throw new AppError('unavailable', `The database ${openProblem(target, error)}.`, { cause: error });
}
