import type { Pool, PoolConnection } from 'mysql2';
import type { DataSource } from 'typeorm';
import type { MysqlDriver } from 'typeorm/driver/mysql/MysqlDriver.js';
import { ALWAYS, type MayWrite, tookTooLong } from '../kernel/caller.js';
import type { DataSourceSettings } from './data-source.js';
import { noConnection, tooManyWaiting } from './database-errors.js';

/** Statements join 1, 2, 4 or 8 reads, so that few different statements are prepared. */
const MOST_IN_STATEMENT = 8;
/** Concurrent statements of a group. More would join fewer reads and leave fewer connections for others. */
const MOST_STATEMENTS = 4;
/** Waiting reads of a group. More could not be read in time. */
const MOST_WAITING = 500;

/**
 * Runs statements on the connections of TypeORM's pool, without its query runner; each is prepared once per connection.
 * With callbacks, because mysql2 captures a stack trace for each promise.
 */
export class PreparedStatements {
  readonly pool: Pool;
  private readonly groups = new Map<string, JointReads>();

  constructor(
    private readonly source: DataSource,
    /** The timeout bounds the wait for earlier reads, too. */
    readonly bounds: DataSourceSettings,
  ) {
    this.pool = (source.driver as MysqlDriver).pool as Pool;
  }

  /** How busy the pool is; `waiting` = requests that wait for a connection. */
  load() {
    const {
      _allConnections: all,
      _freeConnections: free,
      _connectionQueue: queue,
    } = this.pool as unknown as PoolLists;
    const used = all.length - free.length;
    return { used, idle: free.length, waiting: queue.length, max: this.bounds.poolSize };
  }

  /** Statements that wait for a connection, and reads that wait for a statement. */
  waiting(): number {
    let waiting = this.load().waiting;
    for (const group of this.groups.values()) waiting += group.waiting.length;
    return waiting;
  }

  /** Throws what `requireWaiting` throws if `mayWrite` is false once there is a connection. */
  execute(sql: string, values: readonly unknown[], mayWrite: MayWrite = ALWAYS): Promise<unknown[]> {
    return new Promise((resolve, reject) => {
      this.pool.getConnection((error, connection) => {
        if (!connection) return reject(error);
        if (!mayWrite()) {
          connection.release();
          return reject(tookTooLong());
        }
        this.run(connection, [sql, values], (failure, rows) => (failure ? reject(failure) : resolve(rows)));
      });
    });
  }

  /** As `Database.read`. */
  read(group: string, select: string, values: readonly unknown[]): Promise<unknown[]> {
    const key = `${group} ${select}`;
    const known = this.groups.get(key);
    if (known) return known.read(values);
    const made = new JointReads(this, select, () => this.groups.delete(key));
    this.groups.set(key, made);
    return made.read(values);
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

/** mysql2 has no public count of its connections. */
interface PoolLists {
  _allConnections: { length: number };
  _freeConnections: { length: number };
  _connectionQueue: { length: number };
}

/** As text, because mysql2 can bind a number as DOUBLE, which LIMIT refuses and which loses digits of 64-bit integers. */
const asText = (value: unknown) => (value === null ? null : String(value));

interface Read {
  values: readonly unknown[];
  sinceMs: number;
  resolve(rows: unknown[]): void;
  reject(error: unknown): void;
}

/**
 * Joins concurrent reads with the same SQL into one statement, so that its fixed cost on both sides is paid once. A busier
 * process joins more reads; a single read waits for no other. D-45.
 */
class JointReads {
  readonly waiting: Read[] = [];
  private underWay = 0;

  constructor(
    private readonly statements: PreparedStatements,
    private readonly select: string,
    private readonly onIdle: () => void,
  ) {}

  read(values: readonly unknown[]): Promise<unknown[]> {
    return new Promise((resolve, reject) => {
      if (this.waiting.length === MOST_WAITING) return reject(tooManyWaiting());
      this.waiting.push({ values, sinceMs: performance.now(), resolve, reject });
      // Otherwise a connection is already requested, or all statements run, and each one calls `startStatement` when it ends.
      if (this.waiting.length === 1) this.startStatement();
    });
  }

  /** Reads are assigned to a statement only when a connection is available, so later reads can still join. */
  private startStatement(): void {
    if (this.waiting.length === 0 || this.underWay === MOST_STATEMENTS) return;
    this.underWay += 1;
    const beganAtMs = performance.now();
    this.statements.pool.getConnection((error, connection) => {
      if (!connection) {
        // Later reads get their own attempt, because the network may have recovered.
        this.giveUp(beganAtMs, () => error);
        return this.endStatement();
      }
      this.giveUpOverdue();
      const most = Math.min(this.waiting.length, MOST_IN_STATEMENT);
      const reads = this.waiting.splice(0, 2 ** Math.floor(Math.log2(most)));
      if (reads.length > 0) return this.run(connection, reads);
      connection.release();
      this.endStatement();
    });
  }

  private run(connection: PoolConnection, reads: readonly Read[]): void {
    const sql = reads.length === 1 ? this.select : union(this.select, reads.length);
    const values = reads.flatMap((read) => read.values);
    this.statements.run(connection, [sql, values], (error, rows) => {
      if (error) for (const { reject } of reads) reject(error);
      else deal(rows as NumberedRow[], reads);
      this.endStatement();
    });
    // The reads that did not fit go into the next statement.
    this.startStatement();
  }

  private endStatement(): void {
    this.underWay -= 1;
    this.giveUpOverdue();
    if (this.waiting.length > 0) this.startStatement();
    else if (this.underWay === 0) this.onIdle();
  }

  private giveUpOverdue(): void {
    const { queryTimeoutMs } = this.statements.bounds;
    this.giveUp(performance.now() - queryTimeoutMs, () => noConnection(queryTimeoutMs));
  }

  /** Rejects the reads that have waited since `sinceMs` or longer. */
  private giveUp(sinceMs: number, reason: () => unknown): void {
    for (let first = this.waiting[0]; first && first.sinceMs <= sinceMs; first = this.waiting[0]) {
      this.waiting.shift();
      first.reject(reason());
    }
  }
}

function union(select: string, size: number): string {
  const part = (number: number) => `(${select.replace('SELECT ', `SELECT '${number}' AS read_number, `)})`;
  return Array.from({ length: size }, (_, number) => part(number)).join(' UNION ALL ');
}

/** The number is text, because mysql2 reads text faster than integers. */
interface NumberedRow {
  read_number?: string;
}

function deal(rows: NumberedRow[], reads: readonly Read[]): void {
  const results: NumberedRow[][] = reads.map(() => []);
  // A statement for a single read has no `read_number`.
  for (const row of rows) results[Number(row.read_number ?? 0)]?.push(row);
  for (const [number, { resolve }] of reads.entries()) resolve(results[number] ?? []);
}
