import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DataSource, ObjectLiteral, ValueTransformer } from 'typeorm';
import type { DatabaseTarget } from '../config/config.js';
import { named } from '../config/servers.js';
import { ChangeSequence, RESTORED } from '../database/change-sequence.entity.js';
import { type DatabaseSchema, withDataSource } from '../database/data-source.js';
import { type Column, insertRows } from '../database/insert-rows.js';
import { AppError } from '../kernel/errors.js';
import { migrate, requireNoUnfinishedCopy, UNFINISHED_COPY } from '../migrating/migrate.js';
import { appliedMigrations, isSameDatabase } from '../migrating/migration-plan.js';
import { type Snapshot, unreadable, withSnapshot } from './snapshot.js';

/** Emptying a large table takes long. */
const TARGET = { poolSize: 1, queryTimeoutMs: 3_600_000 };

interface Copy {
  from: DatabaseTarget;
  into: DatabaseTarget;
  /** Deletes all rows of the target first. */
  isForced: boolean;
  /** ISO 8601. */
  startedAt: string;
  /** Ends the copy with its reason between two pages. The target keeps its mark. */
  signal: AbortSignal;
  onProgress(rows: number, total: number): void;
}

/**
 * Copies every table as it is at one moment, and returns the number of rows of each. Throws `AppError` before the first
 * write when the target has rows, or when one of the databases is not of this release.
 */
export function copyDatabase(schema: DatabaseSchema, copy: Copy): Promise<Record<string, number>> {
  return withSnapshot(copy.from, schema, (source) =>
    fill(source, schema, copy).catch((error) => unreadable(copy.into, error)),
  );
}

async function fill(
  source: Snapshot,
  schema: DatabaseSchema,
  { from, into, isForced, startedAt, signal, onProgress }: Copy,
): Promise<Record<string, number>> {
  if (await isSameDatabase(from, into)) {
    throw new AppError('invalid_request', '--from and --into name the same database.');
  }
  return withDataSource(into, schema, TARGET, async (data) => {
    const target = new CopyTarget(data, [shownUrl(from).slice(0, 255), startedAt]);
    await target.begin(isForced);
    await migrate(into, schema, { isCopy: true });
    // The migrations themselves add rows.
    await target.empty();
    const counts = await source.counts();
    const total = sumOf(counts);
    let rows = 0;
    for (const table of source.tables) {
      const entity = table.target as new () => object;
      for await (const page of source.pages(table)) {
        // SQLite's driver never waits, and a signal arrives between two turns of the event loop.
        await nextTurn();
        signal.throwIfAborted();
        await data.transaction((manager) => insertRows(manager, entity, page, { read: copied }));
        rows += page.length;
        onProgress(rows, total);
      }
    }
    await target.end(counts);
    return counts;
  });
}

/** The value of a row that was read as its column has it. Engines differ in the form of a decimal alone. */
function copied({ propertyName, precision, transformer }: Column, row: ObjectLiteral): unknown {
  const value = row[propertyName];
  if (precision == null || !transformer) return value;
  const { to, from } = transformer as ValueTransformer;
  return to(from(value));
}

export function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** In the form of `DATABASE_URL`, without user and password. */
export function shownUrl(target: DatabaseTarget): string {
  if (target.kind === 'sqlite') return `sqlite:${target.path}`;
  return `${target.kind}://${target.servers.map(named).join()}${new URL(target.url).pathname}`;
}

/** The database that a copy fills. From `begin` to `end` it has a mark, with which nothing else uses it (D-202). */
export class CopyTarget {
  constructor(
    private readonly data: DataSource,
    /** The source, without a password and of at most 255 characters, and the start. */
    private readonly mark: [source: string, startedAt: string],
  ) {}

  /** Marks the database. Throws `AppError` when it has rows, unless it is forced, or belongs to another program or release. */
  async begin(isForced: boolean): Promise<void> {
    await this.requireOurs();
    if (!isForced) await this.requireEmpty();
    await this.data.query(
      `CREATE TABLE IF NOT EXISTS ${UNFINISHED_COPY} (source VARCHAR(255) NOT NULL, started_at VARCHAR(32) NOT NULL PRIMARY KEY)${this.isSqlite ? '' : ' CHARACTER SET utf8mb4'}`,
    );
    // Together: the mark of an earlier copy ends when this one begins.
    await this.data.transaction(async (manager) => {
      await manager.query(`DELETE FROM ${UNFINISHED_COPY}`);
      await manager.query(`INSERT INTO ${UNFINISHED_COPY} VALUES (?, ?)`, this.mark);
    });
  }

  /** Deletes all rows of this program's tables, which exist. */
  async empty(): Promise<void> {
    for (const { target } of this.data.entityMetadatas) await this.data.getRepository(target).clear();
  }

  /** Ends the mark. Throws `AppError conflict` when a table has another number of rows, or when another copy has begun. */
  async end(counts: Readonly<Record<string, number>>): Promise<void> {
    for (const [table, rows] of Object.entries(counts)) {
      const [{ count }] = await this.data.query(`SELECT COUNT(*) AS count FROM ${table}`);
      if (Number(count) === rows) continue;
      throw new AppError(
        'conflict',
        `${table} has ${count} rows and not the ${rows} of the source: another program wrote meanwhile. Stop it, and repeat the copy with --force.`,
      );
    }
    const where = 'WHERE source = ? AND started_at = ?';
    const marks = await this.data.query(`SELECT 1 FROM ${UNFINISHED_COPY} ${where}`, this.mark);
    if (marks.length === 0) {
      throw new AppError('conflict', 'Another copy into the database has begun. Repeat it with --force.');
    }
    // Nobody waits for changes that only the source got.
    if (!this.isSqlite)
      await this.data.query(`REPLACE INTO change_sequences VALUES ('${RESTORED}', UNIX_TIMESTAMP() * 1000)`);
    await this.data.query(`DROP TABLE ${UNFINISHED_COPY}`);
  }

  private async requireOurs(): Promise<void> {
    if (this.isSqlite) await this.data.query('PRAGMA busy_timeout = 10000');
    const applied = await appliedMigrations(this.data, this.data.migrations);
    const [table] = applied.length === 0 ? await this.tables() : [];
    if (table === undefined) return;
    throw new AppError(
      'conflict',
      `The database has a table ${table} of another program. Choose another database.`,
    );
  }

  /** Rows that the migrations themselves add do not count. */
  private async requireEmpty(): Promise<void> {
    await requireNoUnfinishedCopy(this.data);
    const { tableName: filled } = this.data.getMetadata(ChangeSequence);
    const found: string[] = [];
    for (const table of await this.tables()) {
      const rows = table === filled ? [] : await this.data.query(`SELECT 1 FROM ${table} LIMIT 1`);
      if (rows.length > 0) found.push(table);
    }
    if (found.length === 0) return;
    throw new AppError(
      'conflict',
      `The database is not empty: it has rows in ${found.join(', ')}. Choose an empty one, or use --force, which deletes all its rows first.`,
    );
  }

  /** The tables of this program that exist. */
  private async tables(): Promise<string[]> {
    const runner = this.data.createQueryRunner();
    const found: string[] = [];
    for (const { tableName } of this.data.entityMetadatas) {
      if (await runner.hasTable(tableName)) found.push(tableName);
    }
    await runner.release();
    return found;
  }

  private get isSqlite(): boolean {
    return this.data.options.type === 'better-sqlite3';
  }
}
