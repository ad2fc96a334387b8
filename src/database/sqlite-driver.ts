import libsql from 'libsql';

type Prepare = libsql.Database['prepare'];

const BOUNDARY = /^\s*(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)\b/i;
const WRITE = /^\s*(INSERT|UPDATE|DELETE|REPLACE|CREATE|ALTER|DROP)\b/i;

/**
 * libsql, with the wait for the write lock in one safe place.
 *
 * A prepared statement that fails with SQLITE_BUSY stays half-way open in libsql 0.5 (tursodatabase/libsql-js#238). Until it
 * is run again, other statements on the connection report success and are never committed, or fail for ever. `exec` keeps no
 * statement: here it takes the lock, and a prepared write that runs afterwards can't be refused it.
 */
export class SqliteDriver extends libsql {
  constructor(path: string, options?: libsql.Options) {
    super(path, options);
    const prepare = this.prepare.bind(this);
    const prepareSafely = (sql: string) => {
      if (BOUNDARY.test(sql)) return this.boundary(sql);
      const statement = prepare(sql);
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
    // A transaction that reads first could find at its first write that another process has written since, and be stuck.
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
