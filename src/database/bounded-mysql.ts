import mysql, { type Pool, type PoolConnection, type PoolOptions } from 'mysql2';
import { FATAL_FOR_CONNECTION } from './database-errors.js';

type GetConnection = (
  callback: (error: NodeJS.ErrnoException | null, connection?: PoolConnection) => void,
) => void;
type Query = (
  statement: unknown,
  values?: unknown,
  done?: (error: unknown, ...rest: unknown[]) => void,
) => unknown;

/**
 * mysql2 with a deadline on every wait. Left alone it waits for ever for a free connection and for an answer, and hands a
 * connection that timed out to the next query, so that a pool stays broken after the network has healed.
 */
export function boundedMysql({ queryTimeoutMs }: { queryTimeoutMs: number }): typeof mysql {
  const createPool = (options: PoolOptions): Pool => {
    const pool = mysql.createPool(options);
    pool.on('connection', (connection) => boundQueries(connection, queryTimeoutMs));
    boundWaiting(pool, queryTimeoutMs);
    return pool;
  };
  return { ...mysql, createPool } as typeof mysql;
}

function boundQueries(connection: PoolConnection, timeoutMs: number): void {
  const query = connection.query.bind(connection) as Query;
  const bounded: Query = (statement, values, done) => {
    const callback = typeof values === 'function' ? (values as typeof done) : done;
    const options = typeof statement === 'string' ? { sql: statement } : (statement as object);
    return query(
      { ...options, timeout: timeoutMs },
      typeof values === 'function' ? undefined : values,
      (error, ...rest) => {
        if (FATAL_FOR_CONNECTION.has((error as NodeJS.ErrnoException | null)?.code)) connection.destroy();
        callback?.(error, ...rest);
      },
    );
  };
  connection.query = bounded as typeof connection.query;
}

function boundWaiting(pool: Pool, timeoutMs: number): void {
  const getConnection = pool.getConnection.bind(pool) as GetConnection;
  const bounded: GetConnection = (callback) => {
    let waiting = true;
    const timer = setTimeout(() => {
      waiting = false;
      const error: NodeJS.ErrnoException = new Error(`no database connection within ${timeoutMs} ms`);
      error.code = 'POOL_TIMEOUT';
      callback(error);
    }, timeoutMs);
    getConnection((error, connection) => {
      clearTimeout(timer);
      if (waiting) callback(error, connection);
      else connection?.release();
    });
  };
  pool.getConnection = bounded as typeof pool.getConnection;
}
