/** Part of a statement, with the values of its placeholders. */
export interface SqlPart {
  sql: string;
  values: unknown[];
}

/** SQL that SQLite and MySQL write differently. */
export interface SqlDialect {
  /** Follows the name of a table: the statement reads this index and no other. */
  forceIndex(index: string): string;
  /** The rows behind a position in the order of two columns; `<` for the descending order. It is one range of an index. */
  behind(
    columns: readonly [string, string],
    comparison: '>' | '<',
    position: readonly [unknown, unknown],
  ): SqlPart;
}

export const SQLITE: SqlDialect = {
  forceIndex: (index) => `INDEXED BY ${index}`,
  // SQLite reads no range for OR.
  behind: ([first, second], comparison, position) => ({
    sql: `(${first}, ${second}) ${comparison} (?, ?)`,
    values: [...position],
  }),
};

export const MYSQL: SqlDialect = {
  forceIndex: (index) => `FORCE INDEX (${index})`,
  // MySQL reads no range for a comparison of rows.
  behind: ([first, second], comparison, [a, b]) => ({
    sql: `(${first} ${comparison} ? OR (${first} = ? AND ${second} ${comparison} ?))`,
    values: [a, a, b],
  }),
};
