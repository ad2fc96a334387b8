import type { Pool, PoolConnection } from 'mysql2';
import type { DataSource } from 'typeorm';
import { noConnection } from './database-errors.js';
import { asParameters, poolOf } from './prepared-statements.js';

/** Powers of two, so that few different statements are prepared. */
const MOST_IN_STATEMENT = 8;
/** At the same time, of one group. With more there would be less to join, and fewer connections for anybody else. */
const MOST_STATEMENTS = 4;

/**
 * Runs reads that ask with the same SQL at the same time as one statement: what a statement costs on both sides is then
 * paid once. The busier the process, the more there are to join; a read that is alone waits for no other.
 */
export class JointReads {
  private readonly groups = new Map<string, Group>();
  /** By their part, then by how many parts there are. */
  private readonly unions = new Map<string, string[]>();

  /** `patienceMs` is how long a read waits for those before it; how long for a connection and for its answer, the pool knows. */
  constructor(
    private readonly source: DataSource,
    private readonly patienceMs: number,
  ) {}

  /**
   * The rows in any order; those of a joint statement also carry the number of their read. Reads under different names are
   * never joined, and fail separately.
   */
  read(name: string, select: string, values: readonly unknown[]): Promise<unknown[]> {
    const key = `${name} ${select}`;
    let group = this.groups.get(key);
    if (!group) {
      const whenIdle = () => this.groups.delete(key);
      const sqlFor = (size: number) => this.union(select, size);
      group = new Group(this.source, sqlFor, { patienceMs: this.patienceMs, whenIdle });
      this.groups.set(key, group);
    }
    return group.read(values);
  }

  private union(select: string, size: number): string {
    if (size === 1) return select;
    const unions = this.unions.get(select) ?? [];
    this.unions.set(select, unions);
    const part = (number: number) => `(${select.replace('SELECT ', `SELECT '${number}' AS read_number, `)})`;
    unions[size] ??= Array.from({ length: size }, (_, number) => part(number)).join(' UNION ALL ');
    return unions[size];
  }
}

interface Read {
  values: readonly unknown[];
  sinceMs: number;
  resolve(rows: unknown[]): void;
  reject(error: unknown): void;
}

/** The reads of one name and SQL. */
class Group {
  private readonly pool: Pool;
  private waiting: Read[] = [];
  private statements = 0;

  constructor(
    private readonly source: DataSource,
    private readonly sqlFor: (size: number) => string,
    private readonly options: { patienceMs: number; whenIdle(): void },
  ) {
    this.pool = poolOf(source);
  }

  read(values: readonly unknown[]): Promise<unknown[]> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ values, sinceMs: performance.now(), resolve, reject });
      // The others are seen to by who waits longer.
      if (this.waiting.length === 1) this.begin();
    });
  }

  /** Who is to be read for is decided when there is a connection. */
  private begin(): void {
    if (this.waiting.length === 0 || this.statements === MOST_STATEMENTS) return;
    this.statements += 1;
    const beganAtMs = performance.now();
    this.pool.getConnection((error: unknown, connection?: PoolConnection) => {
      if (!connection) {
        // Who came later has a try of its own: the network may be back.
        this.giveUp(beganAtMs, () => error);
        return this.end();
      }
      const { patienceMs } = this.options;
      this.giveUp(performance.now() - patienceMs, () => noConnection(patienceMs));
      const reads = this.waiting.splice(0, sizeFor(this.waiting.length));
      if (reads.length > 0) return this.run(connection, reads);
      connection.release();
      this.end();
    });
  }

  private run(connection: PoolConnection, reads: readonly Read[]): void {
    const end = (error: unknown, rows?: unknown) => {
      connection.release();
      if (error) for (const { reject } of reads) reject(error);
      else deal(rows as NumberedRow[], reads);
      this.end();
    };
    try {
      const sql = this.sqlFor(reads.length);
      const values = reads.flatMap((read) => read.values);
      this.source.logger.logQuery(sql, values);
      connection.execute(sql, asParameters(values), end);
    } catch (error) {
      end(error);
    }
    // For those that are left.
    this.begin();
  }

  private end(): void {
    this.statements -= 1;
    if (this.waiting.length > 0) this.begin();
    else if (this.statements === 0) this.options.whenIdle();
  }

  /** Rejects those that have waited since then or longer. */
  private giveUp(sinceMs: number, reason: () => unknown): void {
    for (let first = this.waiting[0]; first && first.sinceMs <= sinceMs; first = this.waiting[0]) {
      this.waiting.shift();
      first.reject(reason());
    }
  }
}

function sizeFor(waiting: number): number {
  let size = 1;
  while (size * 2 <= Math.min(waiting, MOST_IN_STATEMENT)) size *= 2;
  return size;
}

/** As text, which mysql2 reads faster than any integer of MySQL's. */
interface NumberedRow {
  read_number?: string;
}

function deal(rows: NumberedRow[], reads: readonly Read[]): void {
  const results: NumberedRow[][] = reads.map(() => []);
  // A statement for one read numbers no rows.
  for (const row of rows) results[Number(row.read_number ?? 0)]?.push(row);
  for (const [number, { resolve }] of reads.entries()) resolve(results[number] ?? []);
}
