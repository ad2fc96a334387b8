import mysql, { type Pool, type PoolConnection, type PoolOptions } from 'mysql2';
import { FATAL_FOR_CONNECTION, noConnection } from './database-errors.js';

type GetConnection = (
  callback: (error: NodeJS.ErrnoException | null, connection?: PoolConnection) => void,
) => void;
type Done = (error: unknown, ...rest: unknown[]) => void;
type Query = (statement: unknown, values?: unknown, done?: Done) => unknown;

/** mysql2's code for a statement that was not answered in time. */
const SILENT = 'PROTOCOL_SEQUENCE_TIMEOUT';

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
  const note = (error: unknown) => {
    const code = (error as NodeJS.ErrnoException | null)?.code;
    if (code === SILENT) trust.wasSilent();
    else trust.answered(connection);
    if (FATAL_FOR_CONNECTION.has(code)) connection.destroy();
  };
  const query = connection.query.bind(connection) as Query;
  const boundedQuery: Query = (statement, values, done) => {
    const callback = typeof values === 'function' ? (values as Done) : done;
    const options = typeof statement === 'string' ? { sql: statement } : (statement as object);
    const given = typeof values === 'function' ? undefined : values;
    return query({ ...options, timeout: timeoutMs }, given, (error, ...rest) => {
      note(error);
      callback?.(error, ...rest);
    });
  };
  connection.query = boundedQuery as typeof connection.query;

  const execute = connection.execute.bind(connection) as Query;
  const boundedExecute: Query = (statement, values, done) => {
    let isOver = false;
    // A connection lost between preparing and executing fails both: released twice, it would serve two at once.
    const end: Done = (error, ...rest) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      note(error);
      done?.(error, ...rest);
    };
    // mysql2's own deadline does not cover the preparation.
    const timer = setTimeout(() => {
      const error: NodeJS.ErrnoException = new Error(`no answer from the database within ${timeoutMs} ms`);
      error.code = SILENT;
      end(error);
    }, timeoutMs);
    return execute(statement, values, end);
  };
  connection.execute = boundedExecute as typeof connection.execute;
}

function boundWaiting(pool: Pool, timeoutMs: number, trust: Trust): void {
  const getConnection = pool.getConnection.bind(pool) as GetConnection;
  const bounded: GetConnection = (callback) => {
    let waiting = true;
    const timer = setTimeout(() => {
      waiting = false;
      callback(noConnection(timeoutMs));
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
