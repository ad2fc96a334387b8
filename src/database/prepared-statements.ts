import type { Pool, PoolConnection } from 'mysql2';
import type { DataSource } from 'typeorm';
import type { MysqlDriver } from 'typeorm/driver/mysql/MysqlDriver.js';

/** Runs one statement by itself, prepared once for each connection. The rows of a read. */
export type Execute = (sql: string, values: readonly unknown[]) => Promise<unknown[]>;

/**
 * Prepared statements on the connections of TypeORM's pool, without its query runner, and by callbacks, as mysql2 captures
 * a stack for each promise.
 */
export function mysqlExecute(source: DataSource): Execute {
  const pool = poolOf(source);
  return (sql, values) =>
    new Promise((resolve, reject) => {
      source.logger.logQuery(sql, [...values]);
      pool.getConnection((error: unknown, connection?: PoolConnection) => {
        if (!connection) return reject(error);
        connection.execute(sql, asParameters(values), (failure: unknown, rows: unknown) => {
          connection.release();
          if (failure) reject(failure);
          else resolve(rows as unknown[]);
        });
      });
    });
}

export function poolOf(source: DataSource): Pool {
  return (source.driver as MysqlDriver).pool as Pool;
}

/** As text: mysql2 may bind a number as a DOUBLE, which no LIMIT takes and no 64-bit integer survives. */
export function asParameters(values: readonly unknown[]): (string | null)[] {
  return values.map((value) => (value === null ? null : String(value)));
}
