import type { DataSource, EntityManager } from 'typeorm';
import type { BackupRow, BackupTable } from './backup-format.js';
import type { BackupRows } from './read-backup.js';

/** Few sizes, so that SQLite reuses its prepared statements. */
const STATEMENT_ROWS = [250, 25, 1];
/** Below every server's `max_allowed_packet`. */
const STATEMENT_CHARACTERS = 1_000_000;
const TRANSACTION_ROWS = 5_000;
const TRANSACTION_CHARACTERS = 4_000_000;

/** Inserts rows: many in a statement, and many statements in a transaction. */
export class RowLoader {
  private waiting: BackupRows[] = [];
  /** The statements of the current table, by their number of rows. */
  private statements: { table: BackupTable | null; sql: Map<number, string> } = {
    table: null,
    sql: new Map(),
  };
  private rows = 0;
  private characters = 0;

  constructor(private readonly source: DataSource) {}

  async add(part: BackupRows): Promise<void> {
    this.waiting.push(part);
    this.rows += part.rows.length;
    this.characters += part.rows.reduce((sum, row) => sum + lengthOf(row), 0);
    if (this.rows >= TRANSACTION_ROWS || this.characters >= TRANSACTION_CHARACTERS) await this.flush();
  }

  /** Stores the rows that wait. */
  async flush(): Promise<void> {
    const parts = this.waiting;
    this.waiting = [];
    this.rows = 0;
    this.characters = 0;
    if (parts.length === 0) return;
    await this.source.transaction(async (manager) => {
      for (const { table, rows } of parts) await this.insert(manager, table, rows);
    });
  }

  private async insert(
    manager: EntityManager,
    table: BackupTable,
    rows: readonly BackupRow[],
  ): Promise<void> {
    for (let next = 0; next < rows.length; ) {
      const most = STATEMENT_ROWS.find((size) => fits(rows, next, size)) ?? 1;
      const values = rows.slice(next, next + most).flat();
      await manager.query(this.statement(table, most), values);
      next += most;
    }
  }

  private statement(of: BackupTable, rows: number): string {
    if (this.statements.table !== of) this.statements = { table: of, sql: new Map() };
    const known = this.statements.sql.get(rows);
    if (known !== undefined) return known;
    const { table, columns } = of;
    const { driver } = this.source;
    const names = columns.map((column) => driver.escape(column)).join(', ');
    const values = Array(rows).fill(`(${columns.map(() => '?').join(', ')})`);
    const sql = `INSERT INTO ${driver.escape(table)} (${names}) VALUES ${values.join(', ')}`;
    this.statements.sql.set(rows, sql);
    return sql;
  }
}

function fits(rows: readonly BackupRow[], from: number, size: number): boolean {
  if (from + size > rows.length) return false;
  let characters = 0;
  for (let at = from; at < from + size; at += 1) characters += lengthOf(rows[at] ?? []);
  return characters <= STATEMENT_CHARACTERS;
}

function lengthOf(row: BackupRow): number {
  let length = 0;
  for (const value of row) length += value?.length ?? 0;
  return length;
}
