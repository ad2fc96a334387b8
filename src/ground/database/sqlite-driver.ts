import { AsyncLocalStorage } from 'node:async_hooks';
import { closeSync, openSync } from 'node:fs';
import libsql from 'libsql';
import type { DataSource, EntityManager } from 'typeorm';

type Prepare = libsql.Database['prepare'];

const BOUNDARY = /^\s*(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)\b/i;
const PRAGMA = /^\s*PRAGMA\b/i;
const WRITE = /^\s*(INSERT|UPDATE|DELETE|REPLACE|CREATE|ALTER|DROP)\b/i;

/**
 * libsql with a safe wait for the write lock, with exact 64-bit integers as bigint, and with new files that only their
 * owner can read.
 *
 * In libsql 0.5 a prepared statement that fails with SQLITE_BUSY stays half open (tursodatabase/libsql-js#238). Until it
 * runs again, other statements on the connection report success but are never committed, or fail forever. `exec` keeps no
 * statement open, so `exec` takes the lock here, and the prepared write that follows can't fail with SQLITE_BUSY. D-8.
 */
export class SqliteDriver extends libsql {
  constructor(path: string, options?: libsql.Options) {
    if (path !== ':memory:') createPrivate(path);
    super(path, options);
    this.defaultSafeIntegers(true);
    const prepare = this.prepare.bind(this);
    const prepareSafely = (sql: string) => {
      if (BOUNDARY.test(sql)) return this.boundary(sql);
      const statement = prepare(sql);
      // TypeORM compares them with plain numbers: as bigint, it would treat each column as NOT NULL.
      if (PRAGMA.test(sql)) return statement.safeIntegers(false);
      if (!WRITE.test(sql)) return statement;
      const run = statement.run.bind(statement);
      const all = statement.all.bind(statement);
      statement.run = (...values) => this.locked(() => run(...values));
      statement.all = (...values) => this.locked(() => all(...values));
      return statement;
    };
    this.prepare = prepareSafely as Prepare;
  }

  private boundary(sql: string) {
    // A transaction that reads first could fail at its first write, when another process has written in between.
    const statement = /^BEGIN TRANSACTION$/i.test(sql) ? 'BEGIN IMMEDIATE' : sql;
    const run = () => {
      this.exec(statement);
      return { changes: 0, lastInsertRowid: 0 };
    };
    return { reader: false, run };
  }

  private locked<T>(write: () => T): T {
    if (this.inTransaction) return write();
    this.exec('BEGIN IMMEDIATE');
    try {
      const result = write();
      this.exec('COMMIT');
      return result;
    } catch (error) {
      if (this.inTransaction) this.exec('ROLLBACK');
      throw error;
    }
  }
}

/** SQLite itself gives its files the mode of the database, but creates that as 0644. An existing file keeps its mode. */
function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch {
    // It exists, or SQLite will say why it cannot be created.
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
