import type { Pool, PoolConnection } from 'mysql2';
import type { DataSource } from 'typeorm';
import type { MysqlDriver } from 'typeorm/driver/mysql/MysqlDriver.js';

/** How busy the pool of database connections is. */
export interface PoolLoad {
  readonly used: number;
  readonly idle: number;
  /** Requests that wait for a connection. */
  readonly waiting: number;
  readonly max: number;
}

/**
 * Runs statements on the connections of TypeORM's pool, without its query runner; each is prepared once per connection.
 * With callbacks, because mysql2 captures a stack trace for each promise.
 */
export class PreparedStatements {
  private readonly pool: Pool;

  constructor(private readonly source: DataSource) {
    this.pool = (source.driver as MysqlDriver).pool as Pool;
  }

  load(max: number): PoolLoad {
    return poolLoad(this.pool, max);
  }

  /** The rows of a read. */
  execute(sql: string, values: readonly unknown[]): Promise<unknown[]> {
    return new Promise((resolve, reject) => {
      this.connect((error, connection) => {
        if (!connection) return reject(error);
        this.run(connection, [sql, values], (failure, rows) => (failure ? reject(failure) : resolve(rows)));
      });
    });
  }

  connect(done: (error: unknown, connection?: PoolConnection) => void): void {
    this.pool.getConnection(done);
  }

  /** Runs the statement and always returns the connection to the pool. */
  run(
    connection: PoolConnection,
    [sql, values]: [sql: string, values: readonly unknown[]],
    done: (error: unknown, rows: unknown[]) => void,
  ): void {
    const end = (error: unknown, rows: unknown) => {
      connection.release();
      done(error, rows as unknown[]);
    };
    try {
      this.source.logger.logQuery(sql, [...values]);
      connection.execute(sql, values.map(asText), end);
    } catch (error) {
      end(error, []);
    }
  }
}

/** As text, because mysql2 can bind a number as DOUBLE, which LIMIT refuses and which loses digits of 64-bit integers. */
function asText(value: unknown): string | null {
  return value === null ? null : String(value);
}

/** mysql2 has no public count of its connections. */
interface PoolLists {
  _allConnections: { length: number };
  _freeConnections: { length: number };
  _connectionQueue: { length: number };
}

function poolLoad(pool: Pool, max: number): PoolLoad {
  const {
    _allConnections: all,
    _freeConnections: free,
    _connectionQueue: queue,
  } = pool as unknown as PoolLists;
  return { used: all.length - free.length, idle: free.length, waiting: queue.length, max };
}
