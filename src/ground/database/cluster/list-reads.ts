import type { Pool, PoolConnection, RowDataPacket } from 'mysql2';

/** Of MySQL and of MariaDB, each of which skips the comment of the other. Empty = the primary does not number its transactions. */
export const POSITION = 'SELECT @@GLOBAL./*M! gtid_binlog_pos *//*!50700 gtid_executed */ AS position';
/** Zero = it has applied them. NULL = it follows no primary. */
export const WAIT = 'SELECT /*M! MASTER_GTID_WAIT *//*!50700 WAIT_FOR_EXECUTED_GTID_SET */(?, ?) AS waited';

const PATIENCE_SECONDS = 0.1;
/** After a late answer or a failure, so that few lists pay for it. */
const REST_MS = 1_000;

type Values = readonly unknown[];

interface Primary {
  read<Row>(group: string, select: string, values: Values): Promise<Row[]>;
}

/**
 * The reads of lists. A replica answers them if it has applied all that the primary had committed when the read came, so
 * that no answer is older than the last acknowledged write. Otherwise the primary answers. D-292.
 */
export class ListReads {
  readonly answered = { replica: 0, primary: 0 };
  private restsUntilMs = 0;
  /** The position that the server of each connection has reached. */
  private readonly applied = new WeakMap<PoolConnection, string>();

  constructor(
    private readonly primary: Primary,
    private readonly replica: Pool,
  ) {}

  /** The rows of the replica, or else of `atPrimary`. */
  async read<Row>(sql: string, values: Values, atPrimary: () => Promise<Row[]>): Promise<Row[]> {
    const rows = performance.now() < this.restsUntilMs ? null : await this.tryAtReplica(sql, values);
    this.answered[rows ? 'replica' : 'primary'] += 1;
    return (rows as Row[] | null) ?? atPrimary();
  }

  async close(): Promise<void> {
    await this.replica.promise().end();
  }

  private async tryAtReplica(sql: string, values: Values): Promise<unknown[] | null> {
    try {
      // For each read, because an earlier position says nothing about later writes.
      const [asked] = await this.primary.read<{ position: string }>('replica', POSITION, []);
      const rows = asked?.position ? await this.readAfter(asked.position, sql, values) : null;
      if (rows) return rows;
    } catch {
      // The primary answers, or says what is wrong.
    }
    this.restsUntilMs = performance.now() + REST_MS;
    return null;
  }

  private async readAfter(position: string, sql: string, values: Values) {
    // On one connection: behind an address there may be several replicas.
    const connection = await new Promise<PoolConnection>((resolve, reject) => {
      this.replica.getConnection((error, got) => (error ? reject(error) : resolve(got)));
    });
    try {
      if (this.applied.get(connection) !== position) {
        const [row] = await ask(connection, WAIT, [position, PATIENCE_SECONDS]);
        if (String(row?.waited) !== '0') return null;
        this.applied.set(connection, position);
      }
      return await ask(connection, sql, values);
    } finally {
      connection.release();
    }
  }
}

function ask(connection: PoolConnection, sql: string, values: Values): Promise<RowDataPacket[]> {
  return new Promise((resolve, reject) => {
    const end = (error: unknown, rows: RowDataPacket[]) => (error ? reject(error) : resolve(rows));
    connection.query<RowDataPacket[]>(sql, [...values], end);
  });
}
