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
 *
 * A firewall or a failover may forget all connections of a pool at once, and nothing tells. So when one did not answer,
 * none is used any more that has not answered since; otherwise each of them would cost some client the whole deadline.
 */
export function boundedMysql({ queryTimeoutMs }: { queryTimeoutMs: number }): typeof mysql {
  const createPool = (options: PoolOptions): Pool => {
    const pool = mysql.createPool(options);
    const trust = new Trust();
    pool.on('connection', (connection) => boundQueries(connection, queryTimeoutMs, trust));
    boundWaiting(pool, queryTimeoutMs, trust);
    return pool;
  };
  return { ...mysql, createPool } as typeof mysql;
}

/** Which connections have answered since the last time that one did not. */
class Trust {
  private readonly answeredAt = new WeakMap<PoolConnection, number>();
  private silenceAt = 0;

  answered(connection: PoolConnection): void {
    this.answeredAt.set(connection, performance.now());
  }

  wasSilent(): void {
    this.silenceAt = performance.now();
  }

  has(connection: PoolConnection): boolean {
    return (this.answeredAt.get(connection) ?? 0) >= this.silenceAt;
  }
}

function boundQueries(connection: PoolConnection, timeoutMs: number, trust: Trust): void {
  trust.answered(connection);
  const bound =
    (send: Query): Query =>
    (statement, values, done) => {
      const callback = typeof values === 'function' ? (values as typeof done) : done;
      const options =
        typeof statement === 'string'
          ? { sql: statement, timeout: timeoutMs }
          : { ...(statement as object), timeout: timeoutMs };
      return send(options, typeof values === 'function' ? undefined : values, (error, ...rest) => {
        const code = (error as NodeJS.ErrnoException | null)?.code;
        if (code === 'PROTOCOL_SEQUENCE_TIMEOUT') trust.wasSilent();
        else trust.answered(connection);
        if (FATAL_FOR_CONNECTION.has(code)) connection.destroy();
        callback?.(error, ...rest);
      });
    };
  connection.query = bound(connection.query.bind(connection) as Query) as typeof connection.query;
  connection.execute = bound(connection.execute.bind(connection) as Query) as typeof connection.execute;
}

function boundWaiting(pool: Pool, timeoutMs: number, trust: Trust): void {
  const getConnection = pool.getConnection.bind(pool) as GetConnection;
  const bounded: GetConnection = (callback) => {
    let waiting = true;
    const timer = setTimeout(() => {
      waiting = false;
      const error: NodeJS.ErrnoException = new Error(`no database connection within ${timeoutMs} ms`);
      error.code = 'POOL_TIMEOUT';
      callback(error);
    }, timeoutMs);
    const take = () =>
      getConnection((error, connection) => {
        if (connection && !trust.has(connection)) {
          connection.destroy();
          if (waiting) take();
          return;
        }
        clearTimeout(timer);
        if (waiting) callback(error, connection);
        else connection?.release();
      });
    take();
  };
  pool.getConnection = bounded as typeof pool.getConnection;
}
