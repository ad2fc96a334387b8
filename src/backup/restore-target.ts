import type { DataSource } from 'typeorm';
import type { DatabaseTarget } from '../config/config.js';
import { ChangeSequence } from '../database/change-sequence.entity.js';
import { createDataSource, type DatabaseSchema } from '../database/data-source.js';
import { UNFINISHED_RESTORE } from '../database/migrate.js';
import { AppError } from '../kernel/errors.js';
import { appliedMigrations, requireKnown } from '../migrations/plan/applied-migrations.js';
import type { BackupTable } from './backup-format.js';

/** A restore may empty and fill large tables. */
const QUERY_TIMEOUT_MS = 3_600_000;

/** The database that a restore fills. */
export class RestoreTarget {
  private constructor(readonly source: DataSource) {}

  static async open(target: DatabaseTarget, schema: DatabaseSchema): Promise<RestoreTarget> {
    const settings = { poolSize: 1, queryTimeoutMs: QUERY_TIMEOUT_MS, exactIntegers: false };
    const source = await createDataSource(target, schema, settings);
    await source.initialize();
    if (target.kind === 'sqlite') await source.query('PRAGMA busy_timeout = 10000');
    return new RestoreTarget(source);
  }

  /** The applied migrations. Throws `AppError conflict` when the database belongs to a newer release or another program. */
  async migrations(): Promise<string[]> {
    const applied = requireKnown(await appliedMigrations(this.source), this.source);
    const [table] = applied.length === 0 ? await this.tables() : [];
    if (table === undefined) return applied;
    throw new AppError(
      'conflict',
      `The database has a table ${table} of another program. Choose another database.`,
    );
  }

  /** Tables of this program that have rows. Rows that the migrations themselves add do not count. */
  async tablesWithRows(): Promise<string[]> {
    const { tableName: filled } = this.source.getMetadata(ChangeSequence);
    const found: string[] = [];
    for (const table of await this.tables()) {
      const rows = table === filled ? [] : await this.source.query(`SELECT 1 FROM ${table} LIMIT 1`);
      if (rows.length > 0) found.push(table);
    }
    return found;
  }

  /** Throws `AppError` unless the backup has the database's tables with exactly their columns. */
  async requireTables(wanted: readonly BackupTable[]): Promise<void> {
    const rows: { of: string; name: string }[] = await this.source.query(COLUMNS[this.kind]);
    const names = new Set([...(await this.tables()), ...wanted.map(({ table }) => table)]);
    const there = [...names].map((table) => ({
      table,
      columns: rows.filter(({ of }) => of === table).map(({ name }) => name),
    }));
    requireSame(wanted, there);
  }

  /** Deletes all rows of this program's tables, and of further tables. */
  async empty(further: readonly BackupTable[] = []): Promise<void> {
    const verb = this.kind === 'sqlite' ? 'DELETE FROM' : 'TRUNCATE TABLE';
    const names = new Set([...(await this.tables()), ...further.map(({ table }) => table)]);
    for (const table of names) await this.source.query(`${verb} ${table}`);
  }

  /** Records that a restore has begun, until `unmark`. */
  async mark(file: string, startedAt: string): Promise<void> {
    const charset = this.kind === 'sqlite' ? '' : ' CHARACTER SET utf8mb4';
    await this.source.query(
      `CREATE TABLE IF NOT EXISTS ${UNFINISHED_RESTORE} (file VARCHAR(255) NOT NULL PRIMARY KEY, started_at VARCHAR(32) NOT NULL)${charset}`,
    );
    // Together: the mark of an earlier restore ends when this one begins.
    await this.source.transaction(async (manager) => {
      await manager.query(`DELETE FROM ${UNFINISHED_RESTORE}`);
      await manager.query(`INSERT INTO ${UNFINISHED_RESTORE} VALUES (?, ?)`, [file, startedAt]);
    });
  }

  /** Throws `AppError conflict` when a table has another number of rows. */
  async requireRows(wanted: Readonly<Record<string, number>>): Promise<void> {
    for (const [table, rows] of Object.entries(wanted)) {
      const [{ count }] = await this.source.query(`SELECT COUNT(*) AS count FROM ${table}`);
      if (Number(count) === rows) continue;
      throw new AppError(
        'conflict',
        `${table} has ${count} rows and not the ${rows} of the backup: another program wrote meanwhile. Stop it, and repeat the restore with --force.`,
      );
    }
  }

  async unmark(): Promise<void> {
    await this.source.query(`DROP TABLE IF EXISTS ${UNFINISHED_RESTORE}`);
  }

  async close(): Promise<void> {
    await this.source.destroy();
  }

  private get kind(): 'sqlite' | 'mysql' {
    return this.source.options.type === 'better-sqlite3' ? 'sqlite' : 'mysql';
  }

  /** The tables of this program that exist. */
  private async tables(): Promise<string[]> {
    const rows: { of: string }[] = await this.source.query(COLUMNS[this.kind]);
    const there = new Set(rows.map(({ of }) => of));
    return this.source.entityMetadatas.map(({ tableName }) => tableName).filter((name) => there.has(name));
  }
}

/** Throws `AppError` when a table or a column is only on one side. */
export function requireSame(wanted: readonly BackupTable[], there: readonly BackupTable[]): void {
  const texts = (tables: readonly BackupTable[]) =>
    tables.map(({ table, columns }) => `${table} (${columns.toSorted().join(', ')})`).sort();
  const found = texts(there);
  const other = texts(wanted).find((text, at) => text !== found[at]);
  if (other === undefined && wanted.length === there.length) return;
  throw new AppError(
    'invalid_request',
    `The tables of the backup do not match its schema: ${other ?? 'one is missing'}. Use another backup.`,
  );
}

const COLUMNS = {
  sqlite:
    "SELECT t.name AS `of`, c.name AS name FROM sqlite_master t JOIN pragma_table_info(t.name) c WHERE t.type = 'table'",
  mysql:
    'SELECT table_name AS `of`, column_name AS name FROM information_schema.columns WHERE table_schema = DATABASE()',
};
