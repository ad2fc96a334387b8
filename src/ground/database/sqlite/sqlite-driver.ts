import { AsyncLocalStorage } from 'node:async_hooks';
import type libsql from 'libsql';
import type { DataSource, EntityManager } from 'typeorm';
import { type Prepared, SqliteConnection } from './sqlite-connection.js';

const BOUNDARY = /^\s*(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)\b/i;
const PRAGMA = /^\s*PRAGMA\b/i;
const WRITE = /^\s*(INSERT|UPDATE|DELETE|REPLACE|CREATE|ALTER|DROP)\b/i;

/**
 * The part of better-sqlite3 that TypeORM uses, by libsql: with a safe wait for the write lock, with exact 64-bit integers
 * as bigint, and with a connection that is replaced when it broke.
 *
 * In libsql 0.5 a prepared statement that fails with SQLITE_BUSY stays half open (tursodatabase/libsql-js#238). Until it
 * runs again, other statements on the connection report success but are never committed, or fail forever. `exec` keeps no
 * statement open, so `exec` takes the lock here, and the prepared write that follows can't fail with SQLITE_BUSY. D-8.
 */
export class SqliteDriver {
  private readonly connection: SqliteConnection;

  constructor(path: string, options?: libsql.Options) {
    this.connection = new SqliteConnection(path, options);
  }

  get inTransaction(): boolean {
    return this.connection.inTransaction;
  }

  prepare(sql: string): Prepared {
    if (BOUNDARY.test(sql)) return this.boundary(sql);
    const isPragma = PRAGMA.test(sql);
    // TypeORM compares them with plain numbers: as bigint, it would treat each column as NOT NULL.
    const statement = this.connection.prepare(sql, !isPragma);
    if (isPragma) this.connection.remember(sql);
    if (!WRITE.test(sql)) return statement;
    return {
      reader: statement.reader,
      run: (...values) => this.locked(() => statement.run(...values)),
      all: (...values) => this.locked(() => statement.all(...values)),
    };
  }

  exec(sql: string): void {
    this.connection.exec(sql);
  }

  pragma(setting: string): unknown[] {
    return this.prepare(`PRAGMA ${setting}`).all();
  }

  /** As in `SqliteConnection`. On a full disk, which serves readers, the file is not marked. */
  markInUse(): void {
    try {
      this.connection.markInUse();
    } catch {}
  }

  /** Stores something small: throws while that is impossible. */
  probe(sql: string): void {
    this.connection.probe(sql);
  }

  close(): void {
    this.connection.close();
  }

  private boundary(sql: string): Prepared {
    const run = () => {
      this.cross(sql);
      return { changes: 0, lastInsertRowid: 0 };
    };
    return { reader: false, run, all: () => [] };
  }

  private cross(sql: string): void {
    const words = sql.trim().toUpperCase();
    // A transaction that reads first could fail at its first write, when another process has written in between.
    if (words === 'BEGIN TRANSACTION') this.connection.begin('BEGIN IMMEDIATE');
    else if (words.startsWith('BEGIN')) this.connection.begin(sql);
    else if (words.startsWith('COMMIT')) this.connection.commit();
    else if (words === 'ROLLBACK') this.connection.rollback();
    else if (words.startsWith('ROLLBACK')) this.connection.rollbackTo(sql);
    else this.connection.exec(sql);
  }

  private locked<T>(write: () => T): T {
    if (this.inTransaction) return write();
    this.connection.begin('BEGIN IMMEDIATE');
    try {
      const result = write();
      this.connection.commit();
      return result;
    } catch (error) {
      this.connection.rollback();
      throw error;
    }
  }
}

type Transaction = <T>(work: (manager: EntityManager) => Promise<T>) => Promise<T>;

/**
 * TypeORM has one connection per SQLite file, so other statements between two steps of a transaction would become part of
 * it and be rolled back with it. Here transactions and other statements run one after the other.
 */
export function sqliteTransactions(source: DataSource): Transaction {
  const owner = new AsyncLocalStorage<symbol>();
  let open: symbol | null = null;
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  };

  const runner = source.createQueryRunner();
  const query = runner.query.bind(runner) as (...args: unknown[]) => Promise<unknown>;
  const isolated = (...args: unknown[]) =>
    open !== null && owner.getStore() === open ? query(...args) : inTurn(() => query(...args));
  runner.query = isolated as typeof runner.query;

  return (work) =>
    inTurn(async () => {
      open = Symbol('transaction');
      try {
        return await owner.run(open, () => source.transaction(work));
      } finally {
        open = null;
        // Otherwise Node follows every promise of the process, requests included.
        owner.disable();
      }
    });
}
