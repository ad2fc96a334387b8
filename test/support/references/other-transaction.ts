import libsql from 'libsql';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import type { DatabaseTarget } from '../../../src/ground/config/config.js';
import { eventually } from '../eventually.js';

/** Of one database: other files use the same server. */
const WAITING = `SELECT 1 FROM information_schema.innodb_trx
  JOIN information_schema.processlist ON id = trx_mysql_thread_id
  WHERE trx_state = 'LOCK WAIT' AND db = DATABASE()`;
/** InnoDB keeps the rows of this table while it is read more often than every 100 ms. */
const REFRESHED_MS = 150;
/** Less than a request may take. */
const WAITED_MS = 3_000;

export type TransactionEnd = 'COMMIT' | 'ROLLBACK';

/** A transaction of another program, which stays open between its statements. */
export interface OtherTransaction {
  run(sql: string, values: readonly unknown[]): Promise<void>;
  /** Resolves when a statement of the gateway waits for it. On SQLite at once: it has the lock of all writes. */
  isWaitedFor(): Promise<void>;
  end(how: TransactionEnd): Promise<void>;
}

export async function otherTransaction(target: DatabaseTarget): Promise<OtherTransaction> {
  if (target.kind === 'sqlite') {
    const program = new libsql(target.path);
    program.exec('BEGIN IMMEDIATE');
    return {
      run: async (sql, values) => void program.prepare(sql).run(...values),
      isWaitedFor: async () => {},
      async end(how) {
        program.exec(how);
        program.close();
      },
    };
  }
  const program = await createConnection(target.url.replace(/^mariadb:/, 'mysql:'));
  await program.query('START TRANSACTION');
  const isWaitedFor = async () => (await program.query<RowDataPacket[]>(WAITING))[0].length > 0;
  return {
    run: async (sql, values) => void (await program.query(sql, values.map(String))),
    isWaitedFor: async () => void (await eventually('a wait', isWaitedFor, WAITED_MS, REFRESHED_MS)),
    async end(how) {
      await program.query(how);
      await program.end();
    },
  };
}
