import { statSync } from 'node:fs';
import libsql from 'libsql';
import { createPrivate, IN_USE, walBytes } from './sqlite-file.js';

/** They change nothing outside the statement. Errors without such a code, such as of a value of a wrong type, are of it too. */
const OF_STATEMENT = /^(?!SQLITE_)|^SQLITE_(AUTH|CONSTRAINT|ERROR|MISMATCH|RANGE|TOOBIG)/;
const SETTING = /^\s*PRAGMA\s+(\w+)\s*=\s*\w+\s*$/i;
/** Between two replacements. libsql keeps the files of a replaced connection open until its statements are collected. */
const REPLACE_MS = 250;
/** For readers and writers of other programs. */
const CLOSE_WAIT_MS = 100;
/** More would take longer than a shutdown may: the next process continues with the `-wal`. */
const CLOSE_MOST_BYTES = 64 * 1024 * 1024;

export interface Prepared {
  readonly reader: boolean;
  run(...values: unknown[]): libsql.RunResult;
  all(...values: unknown[]): unknown[];
}

/**
 * A connection to a SQLite file that is replaced after every error that is not the statement's own, such as a full disk.
 * Such an error can end a transaction or leave one open, and later writes would report success without being stored. A
 * transaction that was open is lost: its other statements throw the same error until ROLLBACK. D-233.
 *
 * A database in memory would end with its connection, so there only the transaction is rolled back.
 */
export class SqliteConnection {
  /** Null = it broke, and was not opened again yet. */
  private native: libsql.Database | null;
  private replacedAtMs = Number.NEGATIVE_INFINITY;
  private statements = new WeakMap<object, libsql.Statement>();
  /** The statements that a new connection repeats, by the name of their setting. */
  private readonly settings = new Map<string, string>();
  private readonly identity: string | null;
  private isInTransaction = false;
  private isMarked = false;
  private isClosed = false;
  /** The error that broke the connection before the last replacement. */
  private fault: unknown = null;
  /** The error that broke the transaction that waits for its ROLLBACK. */
  private lostBy: unknown = null;

  constructor(
    private readonly path: string,
    private readonly options?: libsql.Options,
  ) {
    const isInMemory = path === ':memory:';
    if (!isInMemory) createPrivate(path);
    this.native = this.open();
    this.identity = isInMemory ? null : identityOf(path);
  }

  get inTransaction(): boolean {
    return this.isInTransaction;
  }

  /** Prepares the statement once on each connection. `isExact` = integers arrive as bigint. */
  prepare(sql: string, isExact: boolean): Prepared {
    const key = {};
    const use = <T>(work: (statement: libsql.Statement) => T): T =>
      this.use((native) => {
        let statement = this.statements.get(key);
        if (!statement) {
          statement = native.prepare(sql).safeIntegers(isExact);
          this.statements.set(key, statement);
        }
        return work(statement);
      });
    return {
      reader: use(({ reader }) => reader),
      run: (...values) => use((statement) => statement.run(...values)),
      all: (...values) => use((statement) => statement.all(...values)),
    };
  }

  exec(sql: string): void {
    this.use((native) => native.exec(sql));
  }

  /** A new connection repeats the statement if it sets something. */
  remember(sql: string): void {
    const [, name] = SETTING.exec(sql) ?? [];
    if (name) this.settings.set(name.toLowerCase(), sql);
  }

  /** A refused lock leaves the connection as it was: `exec` keeps no statement open. */
  begin(sql: string): void {
    if (this.lostBy) throw this.lostBy;
    const native = this.opened();
    // With a `-wal` SQLite does not notice it, and stores each write in a file that no other program sees.
    if (this.isMoved) throw this.replace(movedFile());
    try {
      native.exec(sql);
    } catch (error) {
      throw isBusy(error) && !native.inTransaction ? error : this.replace(error);
    }
    this.isInTransaction = true;
  }

  commit(): void {
    if (this.lostBy) throw this.lostBy;
    this.end('COMMIT');
  }

  rollback(): void {
    try {
      if (!this.lostBy) this.end('ROLLBACK');
    } catch (error) {
      if (!this.lostBy) throw error;
    }
    // SQLite or the replacement has rolled it back.
    this.lostBy = null;
  }

  rollbackTo(sql: string): void {
    if (!this.lostBy) this.exec(sql);
  }

  /**
   * Runs the statement on another connection, which is closed at once because it keeps no statement. Throws for a file
   * that is not the opened one any more. In memory it does nothing.
   */
  probe(sql: string): void {
    if (this.identity === null) return;
    const native = this.open();
    try {
      native.exec(sql);
    } finally {
      native.close();
    }
  }

  /** Until `close`, the file itself says that its newest data is in the `-wal`. */
  markInUse(): void {
    this.isMarked = true;
    this.exec(`PRAGMA user_version = ${IN_USE}`);
    this.exec('PRAGMA wal_checkpoint(PASSIVE)');
  }

  /** Moves all data into the one file, unless another program prevents it. Later statements throw. */
  close(): void {
    this.isClosed = true;
    if (!this.native) return;
    if (this.identity !== null) this.settle(this.native);
    this.native.close();
    this.native = null;
  }

  /** A failure here loses nothing: the data is in the `-wal`. */
  private settle(native: libsql.Database): void {
    try {
      if (native.inTransaction) native.exec('ROLLBACK');
      if (walBytes(this.path) > CLOSE_MOST_BYTES) return;
      native.exec(`PRAGMA busy_timeout = ${CLOSE_WAIT_MS}`);
      if (this.isMarked) native.exec('PRAGMA user_version = 0');
      native.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } catch {}
  }

  private end(sql: 'COMMIT' | 'ROLLBACK'): void {
    const native = this.opened();
    // Without a transaction the error is the caller's: its BEGIN failed.
    if (!this.isInTransaction) return void native.exec(sql);
    try {
      native.exec(sql);
      if (native.inTransaction) throw new Error(`SQLite has a transaction after ${sql}`);
      this.isInTransaction = false;
    } catch (error) {
      // The log of writes may have the COMMIT, and then the next start applies it.
      throw Object.assign(this.replace(error) as object, { isUnanswered: sql === 'COMMIT' });
    }
  }

  private use<T>(work: (native: libsql.Database) => T): T {
    if (this.lostBy) throw this.lostBy;
    const native = this.opened();
    try {
      return work(native);
    } catch (error) {
      throw OF_STATEMENT.test(codeOf(error)) ? error : this.replace(error);
    }
  }

  private opened(): libsql.Database {
    if (this.native) return this.native;
    if (this.isClosed) throw new Error('the database is closed');
    if (performance.now() - this.replacedAtMs < REPLACE_MS) throw this.fault;
    return this.openAgain();
  }

  private openAgain(): libsql.Database {
    this.replacedAtMs = performance.now();
    this.native = this.open();
    return this.native;
  }

  private get isMoved(): boolean {
    return Boolean(this.identity) && identityOf(this.path) !== this.identity;
  }

  private open(): libsql.Database {
    let native: libsql.Database | null = null;
    try {
      if (this.isMoved) throw movedFile();
      native = new libsql(this.path, this.options);
      native.defaultSafeIntegers(true);
      for (const sql of this.settings.values()) native.exec(sql);
      return native;
    } catch (error) {
      native?.close();
      throw asFatal(error);
    }
  }

  /** Returns the error, which now says that the connection is lost. */
  private replace(error: unknown): unknown {
    const broken = this.native;
    this.fault = asFatal(error);
    if (this.isInTransaction) this.lostBy = this.fault;
    this.isInTransaction = false;
    if (broken) endTransaction(broken);
    if (!broken || this.identity === null) return this.fault;
    this.native = null;
    this.statements = new WeakMap();
    try {
      // Before the broken one is closed: on a full disk SQLite could not create the `-shm` again, and nothing could be read.
      if (performance.now() - this.replacedAtMs >= REPLACE_MS) this.openAgain();
    } catch {
      // The next statement tries again.
    }
    broken.close();
    return this.fault;
  }
}

/** Two files with one name differ in it. */
function identityOf(path: string): string {
  const file = statSync(path, { throwIfNoEntry: false });
  return file ? `${file.dev}:${file.ino}` : 'missing';
}

function movedFile(): Error {
  return Object.assign(new Error('the file was moved, deleted or replaced'), {
    code: 'SQLITE_READONLY_DBMOVED',
  });
}

function isBusy(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_BUSY');
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | null)?.code ?? '');
}

function asFatal(error: unknown): unknown {
  return Object.assign(error as object, { fatal: true });
}

/** A closed connection with an open transaction would keep its lock. Then only the end of the process helps. */
function endTransaction(native: libsql.Database): void {
  try {
    if (native.inTransaction) native.exec('ROLLBACK');
  } catch (error) {
    if (native.inTransaction)
      setImmediate(() => {
        throw error;
      });
  }
}
