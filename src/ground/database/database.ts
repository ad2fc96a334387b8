import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'mysql2';
import type { DataSource, EntityManager, EntityTarget, ObjectLiteral, Repository } from 'typeorm';
import type { BetterSqlite3Driver } from 'typeorm/driver/better-sqlite3/BetterSqlite3Driver.js';
import { type DatabaseTarget, isInMemory } from '../config/config.js';
import { ALWAYS, type MayWrite, requireWaiting } from '../kernel/caller.js';
import { FairSemaphore } from '../scheduling/fair-semaphore.js';
import { ListReads } from './cluster/list-reads.js';
import {
  createDataSource,
  type DatabaseSchema,
  type DataSourceSettings,
  type StatementTrace,
  traceRunners,
} from './data-source.js';
import { isLocked, isQueueFull, noConnection, outcomeUnknown, whyNowhere } from './database-errors.js';
import { Durability } from './durability.js';
import { PreparedStatements } from './prepared-statements.js';
import { MYSQL, SQLITE, type SqlDialect, type SqlPart } from './sql-dialect.js';
import type { SqliteDriver } from './sqlite/sqlite-driver.js';

/**
 * Two waits of this length, for a connection and for an answer, fit into the 5 s limit of a request. A list that also
 * waited for other reads gets 503 when they do not fit.
 */
const REQUEST_TIMEOUT_MS = 2_000;
const LOCK_PATIENCE_MS = 2_000;
const SQLITE_WAIT_MS = 20;
const READINESS_FRESH_MS = 250;

/** The open database: repositories, transactions, and retries after locks. */
export class Database {
  /**
   * On SQLite only one write at a time retries while another process has the lock, because each attempt blocks the event
   * loop. All other writes wait for it.
   */
  private readonly lockedWrites = new FairSemaphore({ most: 1 });
  private readiness: Promise<boolean> | null = null;
  private wasReady = false;
  private replica: ListReads | null = null;
  /** How often a write ran again, because another writer had the lock or had committed first. */
  repeatedWrites = 0;
  private readonly durability = new Durability(() => this.probe(), this.isSqlite);

  private constructor(
    private readonly source: DataSource,
    private readonly runTransaction: <T>(work: (manager: EntityManager) => Promise<T>) => Promise<T>,
    /** Null on SQLite, which has one connection and prepares each statement itself. */
    private statements: Pick<PreparedStatements, 'execute' | 'read' | 'load' | 'waiting'> | null,
  ) {}

  static async open(
    target: DatabaseTarget,
    schema: DatabaseSchema,
    { poolSize = 10, queryTimeoutMs = REQUEST_TIMEOUT_MS, onMove }: Partial<DataSourceSettings> = {},
  ): Promise<Database> {
    const source = await createDataSource(target, schema, { poolSize, queryTimeoutMs, onMove });
    await source.initialize();
    if (isInMemory(target)) await source.runMigrations();
    if (target.kind === 'sqlite') {
      // The driver blocks the event loop while it waits; `sqliteTransactions` retries for longer waits.
      await source.query(`PRAGMA busy_timeout = ${SQLITE_WAIT_MS}`);
      const { sqliteTransactions } = await import('./sqlite/sqlite-driver.js');
      return new Database(source, sqliteTransactions(source), null);
    }
    const statements = new PreparedStatements(source, { poolSize, queryTimeoutMs });
    return new Database(source, (work) => source.transaction(work), statements);
  }

  /** Options for a read that locks its rows until the transaction ends. SQLite has only one writer, so it needs none. */
  get forUpdate(): { lock?: { mode: 'pessimistic_write' } } {
    return this.isSqlite ? {} : { lock: { mode: 'pessimistic_write' } };
  }

  get dialect(): SqlDialect {
    return this.isSqlite ? SQLITE : MYSQL;
  }

  /** How busy the connections to MySQL are; null on SQLite, which has one connection. */
  get poolLoad() {
    return this.statements?.load() ?? null;
  }

  /** From now on `replica` may answer lists. It need not be there yet. */
  readListsAt(replica: Pool): void {
    this.replica = new ListReads(this, replica);
  }

  /** How many reads of lists each server has answered; null = there is no replica. */
  get listsRead(): Readonly<Record<string, number>> | null {
    return this.replica?.answered ?? null;
  }

  /** From now on `trace` is called around each statement. */
  traceStatements(trace: StatementTrace): void {
    const { source, statements } = this;
    traceRunners(source, trace);
    if (!statements) return;
    this.statements = Object.assign(Object.create(statements) as typeof statements, {
      execute: (sql, values, mayWrite) => trace(sql, () => statements.execute(sql, values, mayWrite)),
      read: (group, sql, values) => trace(sql, () => statements.read(group, sql, values)),
    } satisfies Partial<typeof statements>);
  }

  private get isSqlite(): boolean {
    return this.source.options.type === 'better-sqlite3';
  }

  repository<E extends ObjectLiteral>(entity: EntityTarget<E>): Repository<E> {
    return this.source.getRepository(entity);
  }

  /**
   * Runs a prepared statement outside any transaction; for the few statements that most requests need. 64-bit integers
   * arrive exact, as text or as bigint.
   */
  execute<Row>(sql: string, values: readonly unknown[], mayWrite?: MayWrite): Promise<Row[]> {
    const rows = this.statements?.execute(sql, values, mayWrite) ?? this.source.query(sql, [...values]);
    return rows as Promise<Row[]>;
  }

  /**
   * As `execute`, for a frequent statement that begins with `SELECT ` and a column. Only concurrent reads with the same group
   * and SQL are joined into one statement. The rows come in any order, and may have an extra column `read_number`.
   */
  read<Row>(group: string, select: string, values: readonly unknown[]): Promise<Row[]> {
    const rows = this.statements?.read(group, select, values) ?? this.source.query(select, [...values]);
    return rows as Promise<Row[]>;
  }

  /** As `read`, for records in a list, or for their number. A replica may answer. */
  readList<Row>(group: string, select: string, values: readonly unknown[]): Promise<Row[]> {
    const atPrimary = () => this.read<Row>(group, select, values);
    return this.replica?.read(select, values, atPrimary) ?? atPrimary();
  }

  /**
   * Runs selects of the same columns as one statement; each may have an ORDER BY and a LIMIT. The rows come in any order;
   * 64-bit integers arrive exact, as text or as bigint. A replica may answer those of a list.
   */
  union<Row>(selects: readonly SqlPart[], { isList = false } = {}): Promise<Row[]> {
    const parts = selects.map(({ sql }) => (this.isSqlite ? `SELECT * FROM (${sql})` : `(${sql})`));
    const all = [parts.join(' UNION ALL '), selects.flatMap(({ values }) => values)] as const;
    const atPrimary = () => this.source.query(all[0], all[1]);
    return (isList && this.replica?.read(...all, atPrimary)) || atPrimary();
  }

  /**
   * Runs a write statement, and retries it for up to 2 s while another writer has the lock. It begins only while `mayWrite`
   * is true, otherwise it throws what `requireWaiting` throws.
   */
  write<T>(work: () => Promise<T>, mayWrite = ALWAYS): Promise<T> {
    return this.durability.watch(() => this.writeWhenFree(work, mayWrite));
  }

  private async writeWhenFree<T>(work: () => Promise<T>, mayWrite: MayWrite): Promise<T> {
    requireWaiting(mayWrite);
    const deadline = performance.now() + LOCK_PATIENCE_MS;
    if (!this.lockedWrites.isFull) {
      try {
        return await work();
      } catch (error) {
        if (!isLocked(error)) throw error;
      }
    }
    const again = () => this.writeBefore(deadline, work, mayWrite);
    if (!this.isSqlite) return again();
    const done = await this.lockedWrites.runWithin(LOCK_PATIENCE_MS, null, again);
    if (done === null) throw noConnection(LOCK_PATIENCE_MS);
    return done.result;
  }

  /** Retries `work` until no other writer has the lock. Rejects when a writer still has it at the deadline. */
  private async writeBefore<T>(deadline: number, work: () => Promise<T>, mayWrite: MayWrite): Promise<T> {
    for (let delayMs = 2; ; delayMs = Math.min(delayMs * 2, 100)) {
      await sleep(delayMs * (0.5 + Math.random()));
      requireWaiting(mayWrite);
      this.repeatedWrites += 1;
      try {
        return await work();
      } catch (error) {
        if (!isLocked(error) || performance.now() + delayMs > deadline) throw error;
      }
    }
  }

  /** As `write`, for statements without a transaction: they share a connection, for which they may have waited. */
  connected<T>(work: (manager: EntityManager) => Promise<T>, mayWrite = ALWAYS): Promise<T> {
    const run = async () => {
      const runner = this.source.createQueryRunner();
      try {
        await runner.connect();
        requireWaiting(mayWrite);
        return await work(runner.manager);
      } finally {
        await runner.release();
      }
    };
    return this.write(run, mayWrite);
  }

  /**
   * Runs `work` in a transaction, perhaps more than once. Each run gets its own manager, also on SQLite, where TypeORM uses one for
   * all. So a manager can be a map key. Throws as `write`, also before the COMMIT.
   *
   * The outcome is unknown after an error of COMMIT, unless it says that the transaction was rolled back: `isLocked`. D-238.
   */
  transaction<T>(work: (manager: EntityManager) => Promise<T>, mayWrite = ALWAYS): Promise<T> {
    const run = async () => {
      let isCommitting = false;
      try {
        return await this.runTransaction(async (manager) => {
          // The transaction may have waited for a connection or for the lock.
          requireWaiting(mayWrite);
          const result = await work(Object.create(manager));
          requireWaiting(mayWrite);
          isCommitting = true;
          return result;
        });
      } catch (error) {
        throw isCommitting && !isLocked(error) ? outcomeUnknown(error) : error;
      }
    };
    return this.write(run, mayWrite);
  }

  /** Statements that wait for a connection now. On SQLite they run at once, and the event loop waits for them. */
  get waitingStatements(): number {
    return this.statements?.waiting() ?? 0;
  }

  /** Why this process should get no traffic: migrations are missing, or nothing can be stored. Otherwise null. Throws as `isReady`. */
  async problem(): Promise<string | null> {
    const away = await this.isReady().then((isReady) => !isReady, whyNowhere);
    if (away === true) return 'Migrations are missing. Run "petstore migrate".';
    const why = away || (await this.durability.problem());
    return why === null ? null : `The database stores nothing: ${why}.`;
  }

  private async probe(): Promise<void> {
    const sql = `REPLACE INTO change_sequences (name, value) VALUES ('probe', ${Math.round(performance.now())})`;
    if (this.isSqlite) this.sqlite.probe(sql);
    else await this.source.query(sql);
  }

  /** For the process that serves: after a copy of its SQLite file without the `-wal`, the next start says what is missing. */
  markInUse(): void {
    if (this.isSqlite) this.sqlite.markInUse();
  }

  private get sqlite(): SqliteDriver {
    return (this.source.driver as BetterSqlite3Driver).databaseConnection;
  }

  /**
   * Whether the database answers and has every migration this program knows. Throws what the driver throws. Callers at the
   * same time share a statement, because anybody may ask `/readyz` at any rate.
   */
  isReady(): Promise<boolean> {
    const forget = () => {
      this.readiness = null;
    };
    this.readiness ??= this.askReadiness().finally(() => setTimeout(forget, READINESS_FRESH_MS).unref());
    return this.readiness;
  }

  private async askReadiness(): Promise<boolean> {
    try {
      const [row] = await this.source.query('SELECT COUNT(*) AS applied FROM migrations');
      this.wasReady = Number(row?.applied) >= this.source.migrations.length;
      return this.wasReady;
    } catch (error) {
      // This process is busy. Out of service, it would make the other processes busier still.
      if (isQueueFull(error)) return this.wasReady;
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.replica?.close();
    if (this.source.isInitialized) await this.source.destroy();
  }
}
