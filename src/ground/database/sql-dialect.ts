/** Part of a statement, with the values of its placeholders. */
export interface SqlPart {
  sql: string;
  values: readonly unknown[];
}

/** SQL that SQLite and MySQL write differently. */
export interface SqlDialect {
  /** Follows the name of a table: the statement reads this index and no other. */
  forceIndex(index: string): string;
  /** The rows behind a position in the order of these columns; `<` for the descending order. It is one range of an index. */
  behind(columns: readonly string[], comparison: '>' | '<', position: readonly unknown[]): SqlPart;
}

export const SQLITE: SqlDialect = {
  forceIndex: (index) => `INDEXED BY ${index}`,
  // SQLite reads no range for OR.
  behind: (columns, comparison, position) => ({
    sql: `(${columns.join(', ')}) ${comparison} (${columns.map(() => '?').join(', ')})`,
    values: [...position],
  }),
};

export const MYSQL: SqlDialect = {
  forceIndex: (index) => `FORCE INDEX (${index})`,
  // MySQL reads no range for a comparison of rows.
  behind: (columns, comparison, position) => {
    const [last, ...before] = columns.toReversed();
    return {
      sql: before.reduce(
        (sql, column) => `(${column} ${comparison} ? OR (${column} = ? AND ${sql}))`,
        `${last} ${comparison} ?`,
      ),
      values: position.flatMap((value, at) => (at === position.length - 1 ? [value] : [value, value])),
    };
  },
};
