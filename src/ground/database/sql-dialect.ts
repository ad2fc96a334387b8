import { sortableDecimal } from '../kernel/decimals.js';

/** Part of a statement, with the values of its placeholders. */
export interface SqlPart {
  sql: string;
  values: readonly unknown[];
}

/** SQL that SQLite and MySQL write differently. */
export interface SqlDialect {
  /** Follows the name of a table: the statement reads this index and no other. */
  forceIndex(index: string): string;
  /** The index that is the primary key; null = it has no name, and needs none. */
  readonly primaryKey: string | null;
  /** Joins two tables: the first one is read first. */
  readonly inThisOrder: string;
  /** Ends a select: until the end of the transaction, no other one changes or deletes its rows. */
  readonly shareLock: string;
  /** As `shareLock`, and no other one locks them. */
  readonly updateLock: string;
  /**
   * The rows behind a position in the order of these columns; `<` for the descending order. It is one range of an index.
   * `marks` are the placeholders of the position.
   */
  behind(
    columns: readonly string[],
    comparison: '>' | '<',
    position: readonly unknown[],
    marks?: readonly string[],
  ): SqlPart;
  /** A decimal number, as a column of so many digits and places compares it. */
  decimal(plain: string, digits: number, places: number): SqlPart;
}

export const SQLITE: SqlDialect = {
  forceIndex: (index) => `INDEXED BY ${index}`,
  primaryKey: null,
  inThisOrder: 'CROSS JOIN',
  // Only one transaction writes.
  shareLock: '',
  updateLock: '',
  // SQLite reads no range for OR.
  behind: (columns, comparison, position, marks = columns.map(() => '?')) => ({
    sql: `(${columns.join(', ')}) ${comparison} (${marks.join(', ')})`,
    values: [...position],
  }),
  decimal: (plain) => ({ sql: '?', values: [sortableDecimal(plain)] }),
};

export const MYSQL: SqlDialect = {
  forceIndex: (index) => `FORCE INDEX (${index})`,
  primaryKey: 'PRIMARY',
  inThisOrder: 'STRAIGHT_JOIN',
  // Not FOR SHARE, which MariaDB does not know.
  shareLock: 'LOCK IN SHARE MODE',
  updateLock: 'FOR UPDATE',
  // MySQL reads no range for a comparison of rows.
  behind: (columns, comparison, position, marks = columns.map(() => '?')) => {
    const last = columns.length - 1;
    return {
      sql: columns.reduceRight(
        (sql, column, at) =>
          at === last
            ? `${column} ${comparison} ${marks[at]}`
            : `(${column} ${comparison} ${marks[at]} OR (${column} = ${marks[at]} AND ${sql}))`,
        '',
      ),
      values: position.flatMap((value, at) => (at === last ? [value] : [value, value])),
    };
  },
  // A server may compare a text with a DECIMAL as floating-point numbers.
  decimal: (plain, digits, places) => ({ sql: `CAST(? AS DECIMAL(${digits}, ${places}))`, values: [plain] }),
};
