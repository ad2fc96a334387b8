import type { Socket } from 'node:net';
import mysql, { type Pool, type PoolConnection, type PoolOptions } from 'mysql2';
import { FATAL_FOR_CONNECTION, noConnection } from './database-errors.js';

type GetConnection = (
  callback: (error: NodeJS.ErrnoException | null, connection?: PoolConnection) => void,
) => void;
type Done = (error: unknown, ...rest: unknown[]) => void;
type Query = (statement: unknown, values?: unknown, done?: Done) => unknown;

/** mysql2's code for a statement without an answer in time. */
const SILENT = 'PROTOCOL_SEQUENCE_TIMEOUT';

/**
 * mysql2 with a deadline on every wait. Without it, mysql2 waits forever for a free connection and for an answer. It also
 * reuses a connection that timed out, so the pool stays broken after the network has recovered.
 *
 * A firewall or a failover can silently drop all connections of a pool at once. So after a timeout on one connection, the
 * pool discards every connection that has not answered since. Otherwise each of them would cost a client a whole deadline.
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

/** Knows which connections have answered since the last timeout of any connection. */
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
  // The pool listens only for the first error; a second error without a listener would end the process.
  connection.on('error', () => {});
  trust.answered(connection);
  const note = (error: unknown) => {
    const code = (error as NodeJS.ErrnoException | null)?.code;
    if (code === SILENT) trust.wasSilent();
    else trust.answered(connection);
    if (FATAL_FOR_CONNECTION.has(code)) discard(connection);
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
    // A connection lost between prepare and execute calls back twice. Released twice, it would serve two callers at once.
    const settle: Done = (error, ...rest) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      note(error);
      done?.(error, ...rest);
    };
    // mysql2's own timeout does not cover the prepare step.
    const timer = setTimeout(() => {
      const error: NodeJS.ErrnoException = new Error(`no answer from the database within ${timeoutMs} ms`);
      error.code = SILENT;
      settle(error);
    }, timeoutMs);
    return execute(statement, values, settle);
  };
  connection.execute = boundedExecute as typeof connection.execute;
}

/** mysql2 ends only its own direction. A server that has forgotten the connection never ends the other one. */
function discard(connection: PoolConnection): void {
  connection.destroy();
  // Missing in mysql2's types.
  (connection as unknown as { stream: Socket }).stream.destroy();
}

function boundWaiting(pool: Pool, timeoutMs: number, trust: Trust): void {
  const getConnection = pool.getConnection.bind(pool) as GetConnection;
  const bounded: GetConnection = (callback) => {
    let waiting = true;
    const timer = setTimeout(() => {
      waiting = false;
      callback(noConnection(timeoutMs));
    }, timeoutMs);
    const tryConnection = () =>
      getConnection((error, connection) => {
        if (connection && !trust.has(connection)) {
          discard(connection);
          if (waiting) tryConnection();
          return;
        }
        clearTimeout(timer);
        // Any reason of the server: a changed password, too many clients, or a mode that accepts no clients.
        if (error) Object.assign(error, { fatal: true });
        if (waiting) callback(error, connection);
        else connection?.release();
      });
    tryConnection();
  };
  pool.getConnection = bounded as typeof pool.getConnection;
}
