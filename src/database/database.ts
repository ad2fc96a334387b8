import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource, EntityManager, EntityTarget, ObjectLiteral, Repository } from 'typeorm';
import { type DatabaseTarget, isInMemory } from '../config.js';
import { type Additions, additionStatement } from './add-up.js';
import { createDataSource, MIGRATIONS } from './data-source.js';
import { isLocked } from './database-errors.js';
import { JointReads } from './joint-reads.js';
import { migrateInMemory } from './migrate.js';
import { PreparedStatements } from './prepared-statements.js';
import { sqliteTransactions } from './sqlite-lane.js';

/** Two waits of this length, for a connection and for an answer, fit into the 5 s a request may take. A list that waited for others before is answered 503 when they do not. */
const REQUEST_TIMEOUT_MS = 2_000;
const LOCK_PATIENCE_MS = 2_000;

interface OpenOptions {
  poolSize?: number;
  queryTimeoutMs?: number;
}

/** What each kind of database does in its own way. */
interface Statements {
  execute(sql: string, values: readonly unknown[]): Promise<unknown[]>;
  read(group: string, select: string, values: readonly unknown[]): Promise<unknown[]>;
}

/** The open database: repositories, transactions, and patience with locks. */
export class Database {
  private constructor(
    private readonly source: DataSource,
    private readonly runTransaction: <T>(work: (manager: EntityManager) => Promise<T>) => Promise<T>,
    private readonly statements: Statements,
  ) {}

  static async open(target: DatabaseTarget, options: OpenOptions = {}): Promise<Database> {
    const { poolSize = 10, queryTimeoutMs = REQUEST_TIMEOUT_MS } = options;
    const source = await createDataSource(target, {
      poolSize,
      queryTimeoutMs,
      exactIntegers: true,
    });
    await source.initialize();
    if (isInMemory(target)) await migrateInMemory(source);
    if (target.kind === 'sqlite') {
      const execute: Statements['execute'] = (sql, values) => source.query(sql, [...values]);
      const read: Statements['read'] = (_, select, values) => execute(select, values);
      return new Database(source, sqliteTransactions(source), { execute, read });
    }
    const prepared = new PreparedStatements(source);
    const joint = new JointReads(prepared, queryTimeoutMs);
    return new Database(source, (work) => source.transaction(work), {
      execute: (sql, values) => prepared.execute(sql, values),
      read: (group, select, values) => joint.read(group, select, values),
    });
  }

  /** Options of a read in a transaction that keeps the rows as they are until its end. SQLite has but one writer anyway. */
  get forUpdate(): { lock?: { mode: 'pessimistic_write' } } {
    return this.isSqlite ? {} : { lock: { mode: 'pessimistic_write' } };
  }

  private get isSqlite(): boolean {
    return this.source.options.type === 'better-sqlite3';
  }

  repository<E extends ObjectLiteral>(entity: EntityTarget<E>): Repository<E> {
    return this.source.getRepository(entity);
  }

  /**
   * Runs one prepared statement, outside any transaction; for the few that most requests wait for. 64-bit integers arrive
   * exact, as text or as bigint.
   */
  execute<Row>(sql: string, values: readonly unknown[]): Promise<Row[]> {
    return this.statements.execute(sql, values) as Promise<Row[]>;
  }

  /**
   * As `execute`, for a statement that begins with `SELECT ` and a column and is asked for again and again: together with
   * those of the same group and SQL that come at the same moment, never with others. The rows come in any order, and may
   * have a `read_number` beside what was asked for.
   */
  read<Row>(group: string, select: string, values: readonly unknown[]): Promise<Row[]> {
    return this.statements.read(group, select, values) as Promise<Row[]>;
  }

  /**
   * Runs selects of the same columns as one statement, each with an ORDER BY and a LIMIT of its own. The rows come in any
   * order; 64-bit integers arrive exact, as text or as bigint.
   */
  union<Row>(selects: readonly { sql: string; values: readonly unknown[] }[]): Promise<Row[]> {
    const parts = selects.map(({ sql }) => (this.isSqlite ? `SELECT * FROM (${sql})` : `(${sql})`));
    return this.source.query(
      parts.join(' UNION ALL '),
      selects.flatMap(({ values }) => values),
    );
  }

  /** Runs one statement that writes; again when another writer held a lock. */
  async write<T>(work: () => Promise<T>): Promise<T> {
    const deadline = performance.now() + LOCK_PATIENCE_MS;
    for (let delayMs = 2; ; delayMs = Math.min(delayMs * 2, 100)) {
      try {
        return await work();
      } catch (error) {
        if (!isLocked(error) || performance.now() + delayMs > deadline) throw error;
        await sleep(delayMs * (0.5 + Math.random()));
      }
    }
  }

  /** Adds to the counters of rows, in one statement. Rows that are not there yet begin with what is added. */
  async addUp<E extends ObjectLiteral>(entity: EntityTarget<E>, additions: Additions<E>): Promise<void> {
    if (additions.rows.length === 0) return;
    const { metadata } = this.repository(entity);
    const [sql, parameters] = additionStatement(metadata, additions);
    await this.write(() => this.source.query(sql, parameters));
  }

  /**
   * All or nothing; `work` may run more than once, each time with a manager of its own, by which a map can know it.
   * (TypeORM's own is one and the same for all transactions on SQLite.)
   */
  transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.write(() => this.runTransaction((manager) => work(Object.create(manager))));
  }

  /** Whether the database answers and has every migration this program knows. Throws what the driver throws. */
  async isReady(): Promise<boolean> {
    const [row] = await this.source.query('SELECT COUNT(*) AS applied FROM migrations');
    return Number(row?.applied) >= MIGRATIONS.length;
  }

  async close(): Promise<void> {
    if (this.source.isInitialized) await this.source.destroy();
  }
}
