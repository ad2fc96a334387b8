import type { PoolConnection } from 'mysql2';
import { noConnection, tooManyWaiting } from './database-errors.js';
import type { PreparedStatements } from './prepared-statements.js';

/** Powers of two, so that few different statements are prepared. */
const MOST_IN_STATEMENT = 8;
/** Of one group at the same time. With more there would be less to join, and fewer connections for others. */
const MOST_STATEMENTS = 4;
/** Of one group. More could not be read in time. */
const MOST_WAITING = 500;

/**
 * Runs reads that ask with the same SQL at the same time as one statement: what a statement costs on both sides is then
 * paid once. The busier the process, the more there are to join; a read that is alone waits for no other.
 */
export class JointReads {
  private readonly groups = new Map<string, Group>();
  /** By their part, then by how many parts there are. */
  private readonly unions = new Map<string, string[]>();

  /** `patienceMs` is how long a read waits for those before it; for a connection and for its answer the pool has limits. */
  constructor(
    private readonly statements: PreparedStatements,
    private readonly patienceMs: number,
  ) {}

  /** As `Database.read`. */
  read(group: string, select: string, values: readonly unknown[]): Promise<unknown[]> {
    const key = `${group} ${select}`;
    const known = this.groups.get(key);
    if (known) return known.read(values);
    const made = new Group(this.statements, {
      patienceMs: this.patienceMs,
      sqlFor: (size) => this.union(select, size),
      whenIdle: () => this.groups.delete(key),
    });
    this.groups.set(key, made);
    return made.read(values);
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

interface GroupOptions {
  patienceMs: number;
  sqlFor(size: number): string;
  whenIdle(): void;
}

/** The reads of one group and SQL. */
class Group {
  private readonly waiting: Read[] = [];
  private underWay = 0;

  constructor(
    private readonly statements: PreparedStatements,
    private readonly options: GroupOptions,
  ) {}

  read(values: readonly unknown[]): Promise<unknown[]> {
    return new Promise((resolve, reject) => {
      if (this.waiting.length === MOST_WAITING) return reject(tooManyWaiting());
      this.waiting.push({ values, sinceMs: performance.now(), resolve, reject });
      // When others wait, a connection is on its way, or all statements are under way, which look again at their end.
      if (this.waiting.length === 1) this.begin();
    });
  }

  /** Who is read for is decided when there is a connection: until then more may come. */
  private begin(): void {
    if (this.waiting.length === 0 || this.underWay === MOST_STATEMENTS) return;
    this.underWay += 1;
    const beganAtMs = performance.now();
    this.statements.connect((error, connection) => {
      if (!connection) {
        // Who came later has a try of its own: the network may be back.
        this.giveUp(beganAtMs, () => error);
        return this.end();
      }
      this.giveUpOverdue();
      const reads = this.waiting.splice(0, sizeFor(this.waiting.length));
      if (reads.length > 0) return this.run(connection, reads);
      connection.release();
      this.end();
    });
  }

  private run(connection: PoolConnection, reads: readonly Read[]): void {
    const sql = this.options.sqlFor(reads.length);
    const values = reads.flatMap((read) => read.values);
    this.statements.run(connection, [sql, values], (error, rows) => {
      if (error) for (const { reject } of reads) reject(error);
      else deal(rows as NumberedRow[], reads);
      this.end();
    });
    // A statement has room for so many; the rest takes the next one.
    this.begin();
  }

  private end(): void {
    this.underWay -= 1;
    this.giveUpOverdue();
    if (this.waiting.length > 0) this.begin();
    else if (this.underWay === 0) this.options.whenIdle();
  }

  private giveUpOverdue(): void {
    const { patienceMs } = this.options;
    this.giveUp(performance.now() - patienceMs, () => noConnection(patienceMs));
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
